// expect: PC2226@4 PC2226@5
//# subgroup = 32
@compute @workgroup_size(32) fn main() {
	var x = subgroup_matrix_left<i8, 32, 16>();
	let y = subgroupMatrixMultiply<i32>(x, x);
}
