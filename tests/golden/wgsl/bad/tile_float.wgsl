// expect: PC2227@6 PC2227@7 PC2227@8
//# subgroup = 32
enable f16, chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@compute @workgroup_size(32) fn main() {
	let x = subgroupMatrixLoad<subgroup_matrix_left<f32, 16, 16>, row_major>(&a, 0u, 32u);
	var y = subgroup_matrix_right<f16, 16, 16>();
	var z = subgroup_matrix_result<f32, 16, 16>();
}
