struct S { @size(8) a: u32, @align(8) b: u32, @size(4) c: u32 }
const c = 1;
@id(1) override o = 1;
@compute @workgroup_size(1, 2, 3) fn main(@builtin(workgroup_id) a: vec3u) {}
@must_use fn f(x: u32) -> u32 { return x; }
@group(0) @binding(3) var<uniform> u: u32;
