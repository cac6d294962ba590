@group(0) @binding(0) var<storage, read_write> out: array<u32>;
struct S { counts: u32 }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let s = S(1u);
	let a = s.counts;
	let v = vec2(1u);
	let b = v.y;
	let c = v.rg;
	let d = v.xyxy;
}
