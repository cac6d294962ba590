// rules 1: PC2430@9
fn f() { }
@must_use fn g() -> u32 { return 1u; }
@compute @workgroup_size(64)
fn main() {
	f();
	_ = g();
	_ = workgroupUniformLoad(&w);
	atomicLoad(&a);
}
var<workgroup> w: u32;
var<workgroup> a: atomic<u32>;
