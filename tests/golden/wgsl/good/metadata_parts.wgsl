// rules 1: PC2115@2 PC2115@3 PC2115@4 PC2115@6
//# max u.dims.x = 4096
//# max u.dims[1] = 64
//# max u.rows[2].w = 8
//# max u.inner.n = 3
//# max plain.g = 7
struct Inner { @align(16) n: u32 }
struct U { dims: vec2<u32>, @align(16) rows: array<vec4<i32>, 4>, inner: Inner }
@group(0) @binding(0) var<uniform> u: U;
@group(0) @binding(1) var<uniform> plain: vec3<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main() {
	var x = 0u;
	for (var i = 0u; i < u.dims.x / 4u; i++) { x += 1u; }
	for (var i = 0u; i < u.dims.y; i++) { x += 1u; }
	for (var i = 0i; i < u.rows[2].w * 2; i++) { x += 1u; }
	for (var i = 0u; i < plain.y; i++) { x += 1u; }
	out[0] = x;
}
