// Of matmul_bytes_b.wgsl: word i of four columns that lie side by side, a multiple of four of them. Four words of rows are four of columns once they are turned (matmul_turn.wgsl).
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
	return turned(vec4<u32>(row_of(first, k, lane), row_of(first, k + 1u, lane), row_of(first, k + 2u, lane), row_of(first, k + 3u, lane)));
}
