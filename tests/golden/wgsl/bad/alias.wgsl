// expect: PC2438@14 PC2438@15 PC2438@16 PC2438@17 PC2438@11
// rules 1: PC2207@6 PC2207@6 PC2207@7 PC2207@8 PC2207@9 PC2207@10
var<private> v: array<u32, 4>;
fn touch() { _ = v[1]; }
struct S { x: u32, y: u32 }
fn copy(to: ptr<function, u32>, src: ptr<function, u32>) { *to = *src; }
fn name(to: ptr<private, u32>) { *to = v[0]; }
fn called(to: ptr<private, u32>) { *to = 1u; touch(); }
fn both(a: ptr<function, array<u32, 2>>,
	b: ptr<function, u32>) {
	copy(&a[0], &(*a)[1]);
}
@compute @workgroup_size(1) fn main() {
	var s: S; copy(&s.x, &s.y);
	name(&v[1]);
	called(&v[1]);
	let p = &s.x; copy(p, &*p);
}
