//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@compute @workgroup_size(32) fn main() {
	var x = subgroup_matrix_left<i8, 32, 16>();
}
