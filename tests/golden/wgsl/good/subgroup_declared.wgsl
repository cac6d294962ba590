//# subgroup = 128
@compute @workgroup_size(64) fn main() { }
