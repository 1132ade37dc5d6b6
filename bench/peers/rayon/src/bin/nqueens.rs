//! Counts the safe positions of n queens: the safe places of a row by rayon::join of the first and the rest.

type Board = [i8; 16];

fn safe(queens: &Board, row: usize, column: usize) -> bool {
    (0..row).all(|above| {
        let distance = queens[above] as isize - column as isize;
        distance != 0 && distance.unsigned_abs() != row - above
    })
}

fn count_from(queens: &Board, n: usize, row: usize, mut column: usize) -> i64 {
    while column < n && !safe(queens, row, column) {
        column += 1;
    }
    if column == n {
        return 0;
    }
    let (here, further) = rayon::join(
        || {
            let mut with_this = *queens;
            with_this[row] = column as i8;
            count(&with_this, n, row + 1)
        },
        || count_from(queens, n, row, column + 1),
    );
    here + further
}

fn count(queens: &Board, n: usize, row: usize) -> i64 {
    if row == n {
        return 1;
    }
    count_from(queens, n, row, 0)
}

fn main() {
    peers::run(|n| count(&[0; 16], n as usize, 0) as u64)
}
