// expect: PC2401@3 PC2401@4 PC2401@5 PC2401@5 PC2401@9
const a = 1;
fn a() {}
struct S { x: u32, x: u32 }
fn f(p: u32, p: u32) { let p = 1; }
@compute @workgroup_size(64)
fn main() {
	let x = 1;
	var x = 2;
}
