// expect: PC2409@6 PC2409@7 PC2409@8 PC2409@9
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i << 32u;
	const b = 1 >> 64u;
	let c = 1li << 64u;
	let d = i32(i) >> 33;
}
