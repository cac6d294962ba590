// expect: PC2424@3
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(0) var<storage, read_write> b: array<i32>;
fn helper() { b[0] = 1; }
@compute @workgroup_size(64)
fn main() { a[0] = 1u; }
@compute @workgroup_size(64)
fn other() { helper(); a[1] = 2u; }
