var<workgroup> a: atomic<u32>;
var<workgroup> b: atomic<i32>;
@group(0) @binding(0) var<storage, read_write> c: array<atomic<u32>, 4>;
@compute @workgroup_size(64)
fn main() {
	atomicStore(&a, 1u);
	let x = atomicLoad(&a);
	atomicAdd(&a, 1);
	let p = &c[x];
	atomicXor(p, 1u);
}
