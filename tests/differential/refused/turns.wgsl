// More turns than this device counts right (`mock` with turns=20000): it refuses, and that is counted as such.
//! dispatch 1,1,1 inputs 1
//! binding 0:0 bytes 256
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
var sum = gid.x;
for (var i = 0u; i < 25000u; i++) {
sum = sum * 3u + i;
}
out[gid.x] = sum;
}
