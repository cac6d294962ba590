// expect: PC2113@2 PC2113@2 PC2113@2 PC2113@3 PC2113@4 PC2113@5 PC2113@5 PC2425@5 PC2113@6 PC2113@7
struct S { @offset(4) a: u32, @align(4) @align(4) b: u32, @size() c: u32 }
@foo const c = 1;
@id(1) @name(2) override o = 1;
@compute @workgroup_size(1, 2, 3, 4) fn main(@location(0) a: u32) {}
fn f(@align(4) x: u32) {}
@group(0) @binding(3) @set(1) var<uniform> u: u32;
