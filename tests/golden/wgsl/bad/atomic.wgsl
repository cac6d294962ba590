// expect: PC2433@3 PC2433@4 PC2433@7 PC2433@8 PC2433@9 PC2433@11 PC2404@12
var<workgroup> a: atomic<u32>;
var<workgroup> b: atomic<u64>;
@group(0) @binding(0) var<storage> c: array<atomic<u32>, 4>;
@compute @workgroup_size(64)
fn main() {
	a = 1u;
	let x = a;
	atomicAdd(a, 1u);
	var y = 1u;
	atomicAdd(&y, 1u);
	atomicAdd(&a, 1i);
}
