// expect: PC2203@2 PC2215@2 PC2215@2 PC2404@2
@compute @workgroup_size(1) fn main(@builtin(vertex_index) a: u32, @builtin(subgroup_size) b: u32, @builtin(global_id) c: vec3u, @builtin(global_invocation_id) d: vec3i) {}
