// rules 1: PC2113@7
diagnostic(off, derivative_uniformity);
diagnostic(warning, a.b,);
diagnostic(info, b);
diagnostic(error, x.y);
diagnostic(error, x.y);
@diagnostic(off, rule) @diagnostic(off, other)
@must_use
fn f() -> u32 { return 1u; }
@compute @workgroup_size(64)
fn main() { _ = f(); }
