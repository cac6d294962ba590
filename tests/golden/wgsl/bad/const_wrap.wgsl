// expect: PC2407@3 PC2407@4 PC2408@5 PC2409@6
const least = -2147483647i - 1i;
const a = least / -1i;
const b: u32 = 4294967295 + 1;
const c = 1i % (least - least);
const d = 1u << 32u;
@compute @workgroup_size(64)
fn main() { }
