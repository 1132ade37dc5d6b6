//! Recursive Fibonacci numbers by rayon::join.

fn fib(n: i64) -> i64 {
    if n < 2 {
        return n;
    }
    let (a, b) = rayon::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn main() {
    peers::run(|n| fib(n) as u64)
}
