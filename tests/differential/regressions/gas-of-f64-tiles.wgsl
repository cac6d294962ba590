// The reference counted a component of f64 twice where a tile is moved or multiplied; the price counts it once (semantics 12.6).
//# subgroup = 32
//! floats
//! dispatch 2,1,1 inputs 9793863283856392998
//! binding 0:0 bytes 2048
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read_write> r: array<f64>;
var<workgroup> t: array<f64, 200>;
@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) li: u32) {
	for (var i = li; i < 200u; i += 32u) {
		t[i] = f64(i) * 0.1lf;
	}
	workgroupBarrier();
	let a = subgroupMatrixLoad<subgroup_matrix_left<f64, 8, 16>, row_major>(&t, li / 32u + 5u, 9u);
	let b = subgroupMatrixLoad<subgroup_matrix_right<f64, 8, 8>, col_major>(&t, 3u, 11u);
	subgroupMatrixStore<row_major>(&r, g.x * 128u, subgroupMatrixMultiply<f64>(a, b), 8u);
}
