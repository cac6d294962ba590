// Mesa 22.3 (lavapipe): its constants have no type, and a choice between the words of -1.0 and 0.0 became a negated
// 0.0 or 1.0; so 0 became 0x80000000, among integers too.
//! dispatch 1,1,1 inputs 1
//! binding 0:0 bytes 256
@group(0) @binding(0) var<storage, read_write> out0: array<vec4<u32>>;
@compute @workgroup_size(16, 1, 1)
fn main(@builtin(local_invocation_index) li: u32) {
let v = vec4<f32>(f32(li), 0.0f, -1.0f, 1.0f);
out0[li] = vec4<u32>(select(0u, 0xbf800000u, li > 3u), select(0x80000000u, 0x3f800000u, li > 3u),
select(0xbf800000u, 0u, li <= 3u), bitcast<u32>(sign(v[li % 4u])));
}
