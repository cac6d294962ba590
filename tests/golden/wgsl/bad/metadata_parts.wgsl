// expect: PC2115@3 PC2115@4 PC2115@5 PC2115@6 PC2115@7 PC2115@8 PC2115@9 PC2115@10 PC2115@12
// rules 1: PC2115@3 PC2115@4 PC2115@5 PC2115@6 PC2115@7 PC2115@8 PC2115@9 PC2115@10 PC2115@11 PC2115@12
//# max u.dims.z = 4096
//# max u.dims = 64
//# max u.rows[4].w = 8
//# max u.rows[1 = 8
//# max u.rows[x].x = 8
//# max u.rows[1]x = 8
//# max u.inner.n.x = 3
//# max u[0] = 3
//# max u.dims.x = 3
//# max u.dims.r = 3
struct Inner { @align(16) n: u32 }
struct U { dims: vec2<u32>, @align(16) rows: array<vec4<i32>, 4>, inner: Inner }
@group(0) @binding(0) var<uniform> u: U;
@compute @workgroup_size(64)
fn main() { }
