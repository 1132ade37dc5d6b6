//! The command line of a kernel in Rust: <program> <way> <size> <procs> [runs]. It prints the result, the seconds of each run
//! and the peak memory, as the kernel's C++ program does.

pub mod sha1;

use std::time::Instant;

fn usage() -> ! {
    eprintln!("usage: <program> <way> <size> <procs> [runs]");
    std::process::exit(2)
}

fn number(text: Option<String>, most: i64) -> i64 {
    match text.and_then(|t| t.parse().ok()) {
        Some(value) if (1..=most).contains(&value) => value,
        _ => usage(),
    }
}

fn resident() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.and_then(|line| line.split_whitespace().nth(1)).unwrap_or("unknown").to_string()
}

/// Runs the kernel on rayon's threads as the command line says. Workers start before the clock does.
pub fn run(kernel: fn(i64) -> u64) {
    let mut arguments = std::env::args().skip(1);
    if arguments.next().is_none() {
        usage()
    }
    let size = number(arguments.next(), 1_000_000_000_000);
    let procs = number(arguments.next(), 4096) as usize;
    let runs = match arguments.next() {
        None => 1,
        some => number(some, 1_000_000),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(procs).stack_size(256 << 20).build().expect("threads");
    let before = resident();
    let mut result = 0;
    pool.install(|| {
        for _ in 0..runs {
            let start = Instant::now();
            result = kernel(size);
            println!("seconds {:.6}", start.elapsed().as_secs_f64());
        }
    });
    println!("result {}\nprepared_resident_kib {}\npeak_resident_kib {}", result, before, resident());
}
