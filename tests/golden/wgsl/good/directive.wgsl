requires packed_4x8_integer_dot_product, pointer_composite_access,;
diagnostic(off, derivative_uniformity);
@compute @workgroup_size(64)
fn main() { }
