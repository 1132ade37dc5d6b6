// The rows of examples/moving/rayon.cpp in Rust, with the same results.
use rayon::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc;

fn numbers() -> Vec<i64> {
    (0..1000).collect()
}

fn join() -> i64 {
    let (a, b) = rayon::join(|| 1, || 2);
    a + b
}

fn scope() -> i64 {
    let sum = AtomicI64::new(0);
    rayon::scope(|s| {
        for i in 0..10 {
            let sum = &sum;
            s.spawn(move |_| {
                sum.fetch_add(i, Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

fn spawn() -> i64 {
    let (done, waits) = mpsc::channel();
    rayon::spawn(move || done.send(42).unwrap());
    waits.recv().unwrap()
}

fn for_each() -> i64 {
    let mut all = numbers();
    all.par_iter_mut().for_each(|each| *each *= 2);
    all[10]
}

fn enumerated() -> i64 {
    let mut all = numbers();
    all.par_iter_mut().enumerate().for_each(|(i, each)| *each += i as i64);
    all[10]
}

fn chunks() -> i64 {
    numbers().par_chunks(100).count() as i64
}

fn sum() -> i64 {
    numbers().par_iter().sum()
}

fn map_sum() -> i64 {
    numbers().par_iter().map(|x| x * x).sum()
}

fn fold_reduce() -> i64 {
    numbers().par_iter().fold(|| 0, |even, x| even + (x % 2 == 0) as i64).reduce(|| 0, |a, b| a + b)
}

fn filter() -> i64 {
    let even: Vec<i64> = numbers().into_par_iter().filter(|x| x % 2 == 0).collect();
    even.len() as i64
}

fn find_first() -> i64 {
    *numbers().par_iter().find_first(|&&x| x * x > 1000).unwrap()
}

fn any() -> i64 {
    let all = numbers();
    all.par_iter().any(|&x| x == 77) as i64 + 10 * all.par_iter().all(|&x| x == 77) as i64
}

fn sort() -> i64 {
    let mut all = numbers();
    all.par_sort_unstable_by(|a, b| b.cmp(a));
    all[0]
}

fn sort_by_key() -> i64 {
    let mut all = numbers();
    all.par_sort_by_key(|x| x % 10);
    all[1]
}

fn pool() -> i64 {
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    two.install(|| rayon::current_num_threads() as i64)
}

fn bridge() -> i64 {
    (0..100).par_bridge().sum()
}

fn main() {
    let rows: [(&str, fn() -> i64); 16] = [
        ("join", join),
        ("scope", scope),
        ("spawn", spawn),
        ("for_each", for_each),
        ("enumerated", enumerated),
        ("chunks", chunks),
        ("sum", sum),
        ("map_sum", map_sum),
        ("fold_reduce", fold_reduce),
        ("filter", filter),
        ("find_first", find_first),
        ("any", any),
        ("sort", sort),
        ("sort_by_key", sort_by_key),
        ("pool", pool),
        ("bridge", bridge),
    ];
    for (name, row) in rows {
        println!("{} {}", name, row());
    }
}
