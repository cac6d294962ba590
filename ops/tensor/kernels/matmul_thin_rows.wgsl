// Rows of a as f64 in the order in which lanes of matmul_thin_words.wgsl read them, and their Euclidean norms. Of 32 elements the first eight are those at multiples of four, the next
// eight those behind them, and so on: a lane has the four elements of one word of a block. Behind 64 stands what lanes take away of each of two blocks, 1.5 times the sum of their
// elements. Each row has room for ROW_PAIR numbers a step, so that it is seen that rows do not meet. In front: ROW_PAIR, `a_bits`; k is a multiple of 64.
var<workgroup> squares: array<f64, 64>;

fn term(i: u32) -> f64 {
	return f64(bitcast<f32>(a_bits(i)));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let row = group.y * 65535u + group.x;
	let is_one = row < params.count / params.n;
	var sum = 0.0lf;
	for (var i = 0u; (i < params.k / 64u) & (i < steps); i++) {
		let first = row * (ROW_PAIR * steps) + i * ROW_PAIR;
		let source = i * 64u + (lane & 32u) + (lane & 7u) * 4u + ((lane >> 3u) & 3u);
		if (is_one) {
			let x = term(row * params.k + source);
			rows[first + lane] = x;
			sum += x * x;
		}
		if (is_one && lane < 16u) {
			let e = row * params.k + i * 64u + lane * 4u;
			rows[(first + 64u) + lane] = -1.5lf * ((term(e) + term(e + 1u)) + (term(e + 2u) + term(e + 3u)));
		}
	}
	squares[lane] = sum;
	workgroupBarrier();
	sum = 0.0lf;
	for (var i = 0u; i < 64u; i++) {
		sum += squares[i];
	}
	if (is_one && lane == 0u) {
		norms[row] = vec2<f64>(sqrt(sum), 0.0lf);
	}
}
