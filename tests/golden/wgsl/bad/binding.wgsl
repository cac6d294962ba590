// expect: PC2423@2 PC2423@3 PC2423@4 PC2423@4 PC2404@5
var<storage> a: u32;
@group(0) var<uniform> b: u32;
@group(0) @binding(1) var<private> c: u32;
@group(-1) @binding(0) var<uniform> d: u32;
@compute @workgroup_size(64)
fn main() { }
