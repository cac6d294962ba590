// expect: PC2113@3 PC2113@5 PC2430@9 PC2430@10
// rules 1: PC2430@9
@must_use fn f() { }
@must_use fn g() -> u32 { return 1u; }
@compute() @workgroup_size(64)
fn main() {
	f();
	_ = g();
	g();
	workgroupUniformLoad(&w);
}
var<workgroup> w: u32;
