@compute @workgroup_size(64)
fn main() {
	var x = 1u;
	let a: ptr<function, u32> = &x;
	let b: ptr<private, u32> = &p;
	let c: ptr<workgroup, u32> = &w;
	let d: ptr<uniform, u32> = &u;
	let f: ptr<storage, u32, read_write> = &s;
	let g: ptr<storage, u32, read> = &t;
	let h: ptr<storage, u32> = &t;
}
var<private> p: u32;
var<workgroup> w: u32;
@group(0) @binding(0) var<uniform> u: u32;
@group(0) @binding(1) var<storage, read_write> s: u32;
@group(0) @binding(2) var<storage, read> t: u32;
