//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> c: array<u64>;
@group(0) @binding(2) var<storage, read_write> d: array<u64>;
@compute @workgroup_size(32) fn main() {
	var y = subgroup_matrix_right<f32, 8, 16>();
	var z = subgroup_matrix_result<f64, 8, 16>();
	var x = subgroup_matrix_left<f32, 16, 16>();
	var w = subgroup_matrix_right<f64, 8, 4>();
	var v = subgroup_matrix_result<f64, 8, 8>();
	let u = subgroupMatrixLoad<subgroup_matrix_left<f32, 8, 16>, row_major>(&a, 0u, 32u);
	subgroupMatrixStore<row_major>(&c, 0u, subgroup_matrix_result<f64, 8, 8>(), 8u);
	let t = subgroupMatrixMultiply<f64>(subgroup_matrix_left<f64, 8, 8>(), subgroup_matrix_right<f64, 8, 8>());
	subgroupMatrixStore<row_major>(&d, 0u, t, 8u);
	let s = subgroupMatrixMultiply<f64>(subgroup_matrix_left<f32, 8, 8>(), subgroup_matrix_right<f32, 8, 8>());
}
