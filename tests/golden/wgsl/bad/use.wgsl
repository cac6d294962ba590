// expect: PC2116@2
//# use int.popcount@1
@compute @workgroup_size(64)
fn main() { }
