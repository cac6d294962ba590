// flags: consensus
struct S { @size(4) a: u32, @align(4) b: u32 }
struct T { @size(8) s: S, @align(4) r: array<S> }
@group(0) @binding(0) var<storage> t: T;
@group(0) @binding(1) var<uniform> m: vec4u;
struct Free { x: u32 }
@compute @workgroup_size(64)
fn main() { }
