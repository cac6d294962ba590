// No schedule has a price for it that fits in 64 bits (PC2602), and every invocation leaves each loop in its first turn.
//! dispatch 2,1,1 inputs 77
//! binding 0:0 bytes 512
//! binding 0:1 bytes 512
@group(0) @binding(0) var<storage, read> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  var x = a[g.x];
  for (var i = 0u; i < 65535u; i++) {
    for (var j = 0u; j < 65535u; j++) {
      for (var k = 0u; k < 65535u; k++) {
        for (var l = 0u; l < 65535u; l++) {
          x = x * 5u + l;
          break;
        }
        break;
      }
      break;
    }
    break;
  }
  r[g.x] = x;
}
