// Of matmul_bytes_b.wgsl: word i of four columns that lie side by side, a multiple of four of them. Four words of rows are four of columns once they are turned.
fn row_of(first: u32, k: u32, lane: u32) -> u32 {
	var word = 0u;
	if (k < params.k) {
		word = a[(first + k * (params.n / 4u)) + lane];
	}
	return word;
}

fn four(column: u32, lane: u32, i: u32) -> vec4<u32> {
	let first = column / 4u;
	let k = i * 4u;
	let r0 = row_of(first, k, lane);
	let r1 = row_of(first, k + 1u, lane);
	let r2 = row_of(first, k + 2u, lane);
	let r3 = row_of(first, k + 3u, lane);
	let even = 0x00ff00ffu;
	let e0 = (r0 & even) | ((r1 & even) << 8u);
	let e1 = (r2 & even) | ((r3 & even) << 8u);
	let o0 = ((r0 >> 8u) & even) | (r1 & ~even);
	let o1 = ((r2 >> 8u) & even) | (r3 & ~even);
	return vec4<u32>((e0 & 0xffffu) | (e1 << 16u), (o0 & 0xffffu) | (o1 << 16u), (e0 >> 16u) | (e1 & 0xffff0000u), (o0 >> 16u) | (o1 & 0xffff0000u));
}
