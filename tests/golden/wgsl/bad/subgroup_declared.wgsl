// expect: PC2222@2 PC2114@3 PC2114@4 PC2222@5 PC2114@5
//# subgroup = 12
//# subgroup
//# subgroup = x
//# subgroup = 256
@compute @workgroup_size(64) fn main() { }
