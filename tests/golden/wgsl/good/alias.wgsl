// rules 1: PC2207@4 PC2207@4 PC2207@5 PC2207@5 PC2207@6 PC2207@7
var<private> v: array<u32, 4>;
struct S { x: u32, y: u32 }
fn copy(to: ptr<function, u32>, src: ptr<function, u32>) { *to = *src; }
fn sum(a: ptr<function, u32>, b: ptr<function, u32>) -> u32 { return *a + *b; }
fn parts(s: ptr<function, S>) { s.x = s.y; }
fn name(src: ptr<private, u32>) -> u32 { return *src + v[0]; }
@compute @workgroup_size(1) fn main() {
	var s: S; var t: S;
	copy(&s.x, &t.y);
	s.x = sum(&s.x, &s.x) + name(&v[1]);
	parts(&s);
}
