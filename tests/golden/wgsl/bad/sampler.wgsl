// expect: PC2202@2
@group(0) @binding(1) var s: sampler_comparison;
@compute @workgroup_size(64)
fn main() { _ = s; }
