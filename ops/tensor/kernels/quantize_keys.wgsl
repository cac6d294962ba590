// Magnitudes of floats as integers in their order; NaN is 0. In front: FROM_BITS, FROM_TOP (code of the infinity).
struct Params {
	@size(16) count: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < arrayLength(&y) && i < params.count) {
		let per = 32u / FROM_BITS;
		let c = extractBits(x[i / per], i % per * FROM_BITS, FROM_BITS - 1u);
		y[i] = select(c, 0u, c > FROM_TOP);
	}
}
