// lavapipe (Mesa 22.3): 64 bits shifted by an amount that its compiler learns to be -32, which is 32 modulo 64, were shifted by
// something else: it had dropped the mask before it knew the amount.
//! dispatch 1,1,1 inputs 4277149319962518883
//! binding 0:2 bytes 128
//! binding 0:3 bytes 64
var<private> amount: u32 = 0u;
var<private> words: array<i32, 3>;
@group(0) @binding(2) var<storage, read_write> out: array<u64>;
@group(0) @binding(3) var<storage, read_write> out2: array<vec2<i64>>;
@compute @workgroup_size(1)
fn main() {
amount -= 32u;
out[0] <<= u32(-countTrailingZeros(words[0]));
out[1] = out[1] << amount;
out[2] = out[2] >> amount;
out[3] = u64(i64(out[3]) >> amount);
out2[0] = out2[0] << vec2<u32>(amount);
out2[1] = out2[1] >> vec2<u32>(amount, 1u);
}
