// expect: PC2420@5 PC2420@6 PC2420@7 PC2420@8 PC2420@8 PC2420@9
// rules 1: PC2404@5 PC2404@8 PC2404@9
@compute @workgroup_size(64)
fn main() {
	var x = 1u; let a: ptr<function, u32, read> = &x;
	let b: ptr<private, u32, read_write> = &p;
	let c: ptr<workgroup, u32, read_write> = &w;
	let d: ptr<uniform, u32, read> = &u; let e: ptr<uniform, u32, write> = &u;
	let f: ptr<storage, u32, write> = &s;
}
var<private> p: u32;
var<workgroup> w: u32;
@group(0) @binding(0) var<uniform> u: u32;
@group(0) @binding(1) var<storage, read_write> s: u32;
