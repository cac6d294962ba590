// expect: PC2425@2 PC2425@3 PC2425@4 PC2425@5 PC2404@6 PC2431@8
@compute fn a() {}
@workgroup_size(3) fn b() {}
@compute @workgroup_size(1) fn c(x: u32) {}
@compute @workgroup_size(1) fn d() -> u32 { return 1u; }
@compute @workgroup_size(0) fn e() {}
@compute @workgroup_size(1) fn f() { f2(); }
fn f2() { g(); }
@compute @workgroup_size(1) fn g() {}
