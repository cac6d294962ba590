override W = 8;
@compute @workgroup_size(64) fn a() {}
fn b() {}
@compute @workgroup_size(W, W / 2) fn c(@builtin(workgroup_id) x: vec3u) { b(); }
