// expect: PC2410@5 PC2410@6 PC2404@7
// rules 1: PC2410@5 PC2410@6 PC2404@7 PC2410@7
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
override x: f32 = 2.0;
override packed = pack2x16float(vec2(x, 1.0));
override bits = unpack4xU8(u32(x)).x;
override wrong: u32 = length(vec2(x, 1.0));
@compute @workgroup_size(64)
fn main() { out[0] = f32(packed) + f32(bits) + f32(wrong); }
