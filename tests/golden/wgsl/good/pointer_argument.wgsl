// rules 1: PC2207@7 PC2207@8 PC2207@9 PC2207@10
@group(0) @binding(0) var<storage> read: array<u32>;
@group(0) @binding(1) var<storage, read_write> write: array<u32>;
var<private> p: u32;
var<workgroup> w: array<u32, 4>;
struct S { x: u32, y: array<vec2<u32>, 3> }
fn put(a: ptr<storage, array<u32>, read_write>) { a[0] = 1u; }
fn first(a: ptr<storage, array<u32>>) -> u32 { return a[0] + arrayLength(a); }
fn own(a: ptr<function, u32>) { *a = 1u; }
fn pair(a: ptr<function, vec2<u32>>) { a.x = a.y; }
@compute @workgroup_size(64)
fn main() {
	put(&write);
	_ = first(&read);
	var s: array<S, 2>;
	own(&s[1].x);
	pair(&s[0].y[2]);
}
