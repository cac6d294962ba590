enable f16;
var<private> a: f16;
var<private> b: vec3h;
fn f(x: mat2x2h) { }
@compute @workgroup_size(64)
fn main() {
	let x = 1.5h;
	a = x * a;
	b = b + 2;
}
