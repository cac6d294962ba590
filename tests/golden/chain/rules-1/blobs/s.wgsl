//# max dispatch = 64, 1, 1
@group(0) @binding(0) var<storage, read> a : array<u32>;
@group(0) @binding(2) var<storage, read> c : array<u32>;
@group(1) @binding(0) var<storage, read_write> b : array<u32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) g : vec3<u32>) { b[g.x] = a[g.x] * 3u + c[g.x]; }
