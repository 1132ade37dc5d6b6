//! SHA-1 of messages that fit one block: at most 13 words (FIPS 180-4).

pub type Digest = [u32; 5];

pub fn sha1(message: &[u32]) -> Digest {
    const START: Digest = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    let mut w = [0u32; 16];
    w[..message.len()].copy_from_slice(message);
    w[message.len()] = 0x80000000;
    w[15] = message.len() as u32 * 32;
    let [mut a, mut b, mut c, mut d, mut e] = START;
    for i in 0..80 {
        let (mixed, constant) = match i {
            0..=19 => (d ^ (b & (c ^ d)), 0x5a827999),
            20..=39 => (b ^ c ^ d, 0x6ed9eba1u32),
            40..=59 => ((b & c) | (d & (b | c)), 0x8f1bbcdc),
            _ => (b ^ c ^ d, 0xca62c1d6),
        };
        if i >= 16 {
            w[i % 16] = (w[(i + 13) % 16] ^ w[(i + 8) % 16] ^ w[(i + 2) % 16] ^ w[i % 16]).rotate_left(1);
        }
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(w[i % 16]);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    [
        START[0].wrapping_add(a),
        START[1].wrapping_add(b),
        START[2].wrapping_add(c),
        START[3].wrapping_add(d),
        START[4].wrapping_add(e),
    ]
}
