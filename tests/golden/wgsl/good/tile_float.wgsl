//# subgroup = 32
enable f16, chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<u32>;
@compute @workgroup_size(32) fn main() {
	let x = subgroupMatrixLoad<subgroup_matrix_left<u8, 16, 16>, row_major>(&a, 0u, 32u);
	var y = subgroup_matrix_right<u8, 16, 16>();
	var z = subgroup_matrix_result<u32, 16, 16>();
}
