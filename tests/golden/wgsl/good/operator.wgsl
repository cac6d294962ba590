@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	let a = i + 1;
	let b = true & false;
	let c = -i32(i);
	let d = !(i > 1);
	let e = ~i;
	let f = i << 1;
	let g = vec2(1u) + 3;
	let h = i > 1 && true;
	let j = true != false;
	let k = vec2(1u) & vec2(1u);
	let l = vec2(true) | vec2(false);
	let m = vec3(i)[0];
	let n = vec2(1u) << vec2(1);
	let o = i == 1u;
	var p = 1li;
	p++;
}
