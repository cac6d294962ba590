// expect: PC2220@2 PC2220@3 PC2220@4 PC2220@7
var<private> a: f16;
var<private> b: vec3h;
fn f(x: mat2x2h) { }
@compute @workgroup_size(64)
fn main() {
	let x = 1.5h;
}
