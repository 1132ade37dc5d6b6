//! SHA-1 of messages that fit one block: at most 13 words (FIPS 180-4).

pub type Digest = [u32; 5];

type Mix = fn(u32, u32, u32) -> u32;

fn choose(b: u32, c: u32, d: u32) -> u32 {
    d ^ (b & (c ^ d))
}

fn parity(b: u32, c: u32, d: u32) -> u32 {
    b ^ c ^ d
}

fn majority(b: u32, c: u32, d: u32) -> u32 {
    (b & c) | (d & (b | c))
}

macro_rules! rounds {
    ($w:ident, $state:ident, $mix:expr, $constant:expr, $first:expr, $($i:literal)*) => {
        $({
            const I: usize = $first + $i;
            let mix: Mix = $mix;
            let [a, b, c, d, e] = $state;
            if I >= 16 {
                $w[I % 16] = ($w[(I + 13) % 16] ^ $w[(I + 8) % 16] ^ $w[(I + 2) % 16] ^ $w[I % 16]).rotate_left(1);
            }
            let sum = a.rotate_left(5).wrapping_add(mix(b, c, d)).wrapping_add(e);
            $state = [sum.wrapping_add($constant).wrapping_add($w[I % 16]), a, b.rotate_left(30), c, d];
        })*
    };
}

pub fn sha1(message: &[u32]) -> Digest {
    const START: Digest = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    let mut w = [0u32; 16];
    w[..message.len()].copy_from_slice(message);
    w[message.len()] = 0x80000000;
    w[15] = message.len() as u32 * 32;
    let mut state = START;
    // Written out, because a loop of rounds that stays a loop takes four times as long.
    rounds!(w, state, choose, 0x5a827999, 0, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    rounds!(w, state, parity, 0x6ed9eba1, 20, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    rounds!(w, state, majority, 0x8f1bbcdc, 40, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    rounds!(w, state, parity, 0xca62c1d6, 60, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    let mut digest = START;
    for (sum, part) in digest.iter_mut().zip(state) {
        *sum = sum.wrapping_add(part);
    }
    digest
}
