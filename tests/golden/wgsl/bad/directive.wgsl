// expect: PC2112@2 PC2112@3 PC2112@6
enable f16, subgroups_f16;
requires unrestricted_pointer_parameters;
@compute @workgroup_size(64)
fn main() { }
enable subgroups;
