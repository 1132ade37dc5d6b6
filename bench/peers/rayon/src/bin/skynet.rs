//! A tree with ten children at each node, whose leaves' numbers are summed: the children by a parallel iterator, each a job.

use rayon::prelude::*;

fn skynet(first: i64, leaves: i64) -> i64 {
    if leaves == 1 {
        return first;
    }
    let leaves = leaves / 10;
    (0..10i32).into_par_iter().with_max_len(1).map(|i| skynet(first + i64::from(i) * leaves, leaves)).sum()
}

fn main() {
    peers::run(|leaves| skynet(0, leaves) as u64)
}
