// use int.popcount@1: a plain comment
@compute @workgroup_size(64)
fn main() { }
