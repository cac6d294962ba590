// Rows that workgroup memory does not hold are read once more; rows_kept.wgsl.
fn keep_one(i: u32, at: u32, bits: u32) {
}

fn keep(j: u32, at: u32, quad: vec4<u32>) {
}

fn kept_bits(first: u32, lane: u32, at: u32, i: u32) -> u32 {
	return load1(first + (i >> 2u) * LANES + lane, i & 3u);
}
