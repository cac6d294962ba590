@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var a = 1u;
	let b = &a;
	let c = *b;
	var v = vec2(1u);
	let d = &v;
	let e = (*d).x + d.y + d[1];
	d.x = e;
	let f = d;
	(*f)[0] = 3u;
	let o = &out;
	(*o)[1] = 2u;
	o[2] = arrayLength(o);
}
