// expect: PC2430@9 PC2430@10 PC2430@11 PC2430@12
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@must_use fn f() -> u32 { return 1u; }
fn g() -> u32 { return 1u; }
var<workgroup> a: atomic<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	min(1u, 2u);
	f();
	vec3u(1);
	arrayLength(&out);
	g();
}
