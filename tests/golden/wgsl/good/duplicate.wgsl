const a = 1;
fn b() {}
struct S { x: u32, y: u32 }
fn f(p: u32, q: u32) { { let p = 1; } }
@compute @workgroup_size(64)
fn main() {
	let x = 1;
	{ var x = 2; let a = x; }
	let min = 3;
}
