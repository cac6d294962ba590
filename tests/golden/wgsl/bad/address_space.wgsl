// expect: PC2420@2 PC2420@3 PC2420@4 PC2420@5 PC2420@6 PC2420@9
var a: u32;
var<storages> b: u32;
var<private, read> c: u32;
@group(0) @binding(0) var<storage, write> d: u32;
var<workgroup> e: u32 = 3u;
@compute @workgroup_size(64)
fn main() {
	var<private> f = 1u;
	var<function> g = b;
}
