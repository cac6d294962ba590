// rules 1: PC2410@6 PC2410@7 PC2410@8 PC2410@9 PC2410@10 PC2410@11 PC2410@12 PC2410@13
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
override x: f32 = 2.0;
override root = sqrt(x) + fract(x) + clamp(x, 0.0, 1.0);
override scaled = ldexp(x, 3) + mix(x, 1.0, 0.5);
override size = length(vec2(x, 1.0));
override part = frexp(x).exp;
override one = array<f32, 2>(x, 1.0)[1];
override packed = pack2x16float(vec2(x, 1.0));
override bits = unpack4xU8(u32(x)).x;
override turned = transpose(mat2x3f())[u32(x)].y;
override chosen = array<f32, 3>(1.0, 2.0, 4.0)[u32(x)];
var<workgroup> w: array<f32, u32(dot(vec2(x, x), vec2(x, 1.0)))>;
@compute @workgroup_size(64)
fn main() { out[0] = size + f32(part) + one + root + scaled + f32(packed) + f32(bits) + turned + chosen + w[0]; }
