// How factors of bytes lie once they are packed for matmul_bytes_tile.wgsl, words of four terms, `steps` of them for a vector: of a all batches' rows one after the other; of b panels of 64
// columns, of a panel one word after the other. Outside of b is 0, behind the terms of a anything. Of one factor all bytes are unsigned, of the other signed, which one of them is by adding
// 128; what that adds to an element hangs on its column: the sum of b's bytes there, times MORE.
fn words() -> u32 {
	return (params.k + 3u) / 4u;
}
