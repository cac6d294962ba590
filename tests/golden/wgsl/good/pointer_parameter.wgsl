@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn f(p: u32) -> u32 { return p + 1u; }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var x = 1u;
	let p: ptr<function, u32> = &x;
	*p = f(*p);
}
