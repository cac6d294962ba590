const a = b;
const b = 3;
struct S { s: array<T, 2> }
alias T = vec2<u32>;
override o = q + 1;
override q = 1;
@compute @workgroup_size(64)
fn main() { let x = a; }
