// expect: PC2112@3 PC2112@4 PC2112@5 PC2112@6 PC2112@7 PC2112@9 PC2113@10 PC2113@11 PC2113@13 PC2113@14
// rules 1: PC2113@11 PC2113@12 PC2113@13
diagnostic(loud, derivative_uniformity);
diagnostic(off);
diagnostic(off, 3);
diagnostic(off, a.b.c);
diagnostic(2, a);
diagnostic(off, x.y);
diagnostic(error, x.y);
@diagnostic(quiet, rule)
@diagnostic(off, rule, other)
@diagnostic(off, twice)
@diagnostic(info, twice)
@must_use()
fn f() -> u32 { return 1u; }
@compute @workgroup_size(64)
fn main() { _ = f(); }
