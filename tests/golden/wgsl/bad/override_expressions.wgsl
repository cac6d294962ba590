// expect: PC2410@5 PC2410@6 PC2404@7
// rules 1: PC2410@5 PC2410@6 PC2404@7 PC2410@7
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
override x: f32 = 2.0;
override many = array<f32, 65>()[u32(x)];
override made = mat2x2<u32>(u32(x), 1u, 2u, 3u)[0].x * (mat2x2<u32>(u32(x), 1u, 2u, 3u) * vec2(1u)).x;
override wrong: u32 = length(vec2(x, 1.0));
@compute @workgroup_size(64)
fn main() { out[0] = f32(many) + f32(made) + f32(wrong); }
