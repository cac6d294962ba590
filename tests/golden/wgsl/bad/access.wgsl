// expect: PC2415@6 PC2415@7 PC2415@9
@group(0) @binding(0) var<storage> a: array<u32>;
@group(0) @binding(1) var<uniform> u: vec4u;
@compute @workgroup_size(64)
fn main() {
	a[0] = 1u;
	u.x = 1u;
	let p = &a[1];
	*p += 1u;
}
