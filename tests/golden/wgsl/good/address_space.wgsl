var<private> a: u32;
@group(0) @binding(0) var<storage, read_write> d: u32;
var<workgroup> e: u32;
@compute @workgroup_size(64)
fn main() {
	var<function> g = 1u;
}
