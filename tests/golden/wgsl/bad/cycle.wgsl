// expect: PC2403@3 PC2403@4 PC2403@5 PC2403@6
const a = b;
const b = a;
struct S { s: array<S, 2> }
alias T = vec2<T>;
override o = o + 1;
@compute @workgroup_size(64)
fn main() { let x = a; }
