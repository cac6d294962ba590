enable f16;
struct Item {
    at: vec3<u32>,
    w: i32,
}
struct Inner {
    k: u32,
    item: Item,
}
struct U {
    count: u32,
    total: u64,
    delta: i64,
    scale: f32,
    half: f16,
    m: mat3x2<f32>,
    items: array<Item, 3>,
    pair: vec2<i32>,
    inner: Inner,
    last: vec4<u32>,
}
@group(0) @binding(1) var<uniform> u: U;
@group(1) @binding(0) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(1)
fn main() {
    result[0] = u.count;
}
