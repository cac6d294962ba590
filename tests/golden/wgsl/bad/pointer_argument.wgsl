// expect: PC2415@12 PC2404@13 PC2404@14 PC2404@15 PC2404@16 PC2434@18
// rules 1: PC2207@7 PC2207@8 PC2207@9 PC2434@18
@group(0) @binding(0) var<storage> read: array<u32>;
@group(0) @binding(1) var<storage, read_write> write: array<u32>;
var<private> p: u32;
var<workgroup> w: array<u32, 4>;
fn put(a: ptr<storage, array<u32>, read_write>) { a[0] = 1u; }
fn first(a: ptr<storage, array<u32>>) -> u32 { return a[0]; }
fn own(a: ptr<function, u32>) { *a = 1u; }
@compute @workgroup_size(64)
fn main() {
	put(&read);
	_ = first(&write);
	own(&p);
	own(p);
	own(&w[1]);
	var v: vec2<u32>;
	own(&v.y);
}
