@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<uniform> u: vec4u;
@compute @workgroup_size(64)
fn main() {
	a[0] = u.x;
	let p = &a[1];
	*p += 1u;
}
