// expect: PC2227@7 PC2227@8 PC2226@9 PC2226@10 PC2226@11 PC2406@12 PC2406@13 PC2406@14 PC2226@15 PC2404@16
//# subgroup = 32
enable f16, chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> c: array<vec2<u64>>;
@compute @workgroup_size(32) fn main() {
	var y = subgroup_matrix_right<f16, 8, 16>();
	var z = subgroup_matrix_result<f32, 8, 16>();
	var x = subgroup_matrix_left<f32, 32, 16>();
	var w = subgroup_matrix_right<f64, 16, 16>();
	var v = subgroup_matrix_result<f64, 8, 4>();
	let u = subgroupMatrixLoad<subgroup_matrix_left<f64, 8, 16>, row_major>(&a, 0u, 32u);
	subgroupMatrixStore<row_major>(&c, 0u, subgroup_matrix_result<f64, 8, 8>(), 8u);
	let t = subgroupMatrixMultiply<f64>(subgroup_matrix_left<f32, 8, 8>(), subgroup_matrix_right<f64, 8, 8>());
	subgroupMatrixStore<row_major>(&c, 0u, subgroup_matrix_left<f64, 8, 8>(), 8u);
	let s = subgroupMatrixMultiply<f32>(subgroup_matrix_left<f32, 8, 8>(), subgroup_matrix_right<f32, 8, 8>());
}
