// The reference counted a component of f64 twice where a tile is moved; the price counts it once (semantics 12.6).
//# subgroup = 32
//! floats
//! dispatch 2,1,1 inputs 9793863283856392998
//! binding 0:0 bytes 2048
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read_write> r: array<u64>;
var<workgroup> t: array<u64, 200>;
@compute @workgroup_size(32)
fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) li: u32) {
	t[li * 5u] = u64(li) << 40u;
	workgroupBarrier();
	let a = subgroupMatrixLoad<subgroup_matrix_result<f64, 8, 16>, row_major>(&t, 5u, 9u);
	subgroupMatrixStore<row_major>(&r, g.x * 128u, a, 8u);
}
