//! The integral of x^3 + x from 0 to n by halving the interval, by rayon::join.

const LARGEST_ERROR: f64 = 1e-9; // of one interval

fn function(x: f64) -> f64 {
    (x * x + 1.0) * x
}

fn integrate(x1: f64, y1: f64, x2: f64, y2: f64, area: f64) -> f64 {
    let half = (x2 - x1) / 2.0;
    let x0 = x1 + half;
    let y0 = function(x0);
    let left = (y1 + y0) / 2.0 * half;
    let right = (y0 + y2) / 2.0 * half;
    if (left + right - area).abs() < LARGEST_ERROR {
        return left + right;
    }
    let (a, b) = rayon::join(|| integrate(x1, y1, x0, y0, left), || integrate(x0, y0, x2, y2, right));
    a + b
}

fn main() {
    peers::run(|n| {
        let end = n as f64;
        let right = end * end * (end * end / 4.0 + 0.5);
        (integrate(0.0, function(0.0), end, function(end), 0.0) / right * (1 << 20) as f64).round() as u64
    })
}
