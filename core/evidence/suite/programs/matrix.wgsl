//# max dispatch = 1,1,1
// As bounded.wgsl, for columns and rows of matrices; the floats are only moved.
struct Box {
	before: u32,
	square: mat3x3<f32>,
	between: u32,
	tall: array<mat2x4<f32>, 2>,
	behind: u32,
}

struct Request {
	kind: u32,
	i: u32,
	j: u32,
	k: u32,
	value: u32,
}

struct Params {
	n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> requests: array<Request>;
@group(0) @binding(2) var<storage, read_write> box: Box;
@group(0) @binding(3) var<storage, read_write> results: array<u32>;

@compute @workgroup_size(1)
fn main() {
	for (var r = 0u; r < min(params.n, 256u); r++) {
		let q = requests[r];
		if (q.kind == 0u) {
			box.square[q.j][q.k] = bitcast<f32>(q.value);
			results[r] = bitcast<u32>(box.square[q.j][q.k]);
		} else {
			box.tall[i32(q.i)][i32(q.j)][i32(q.k)] = bitcast<f32>(q.value);
			results[r] = bitcast<u32>(box.tall[i32(q.i)][i32(q.j)][i32(q.k)]);
		}
	}
}
