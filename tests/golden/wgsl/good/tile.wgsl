//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read> b: array<u32>;
@group(0) @binding(2) var<storage, read_write> c: array<i32>;
@group(0) @binding(3) var<storage, read_write> d: array<u32>;
var<workgroup> t: array<i32, 64>;
alias Sum = subgroup_matrix_result<i32, 8, 16>;
fn twice(x: subgroup_matrix_left<i8, 32, 16>, y: subgroup_matrix_right<i8, 8, 32>, z: Sum) -> Sum {
	return subgroupMatrixMultiplyAccumulate(x, y, subgroupMatrixMultiplyAccumulate(x, y, z));
}
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) g: vec3u) {
	let x = subgroupMatrixLoad<subgroup_matrix_left<i8, 32, 16>, row_major>(&a, g.x * 4u, 32u);
	let y = subgroupMatrixLoad<subgroup_matrix_right<i8, 8, 32>>(&t, 0, true, 32);
	var sum = Sum();
	for (var i = 0; i < 3; i++) { sum = twice(x, y, sum); }
	subgroupMatrixStore<col_major>(&c, 0, sum, 16);
	subgroupMatrixStore(&c, 512u, sum, false, 8u);
	let p = subgroupMatrixLoad<subgroup_matrix_left<u8, 16, 8>, col_major>(&b, i32(g.x), 8i);
	var q: subgroup_matrix_right<u8, 16, 16>;
	let r = subgroupMatrixMultiply<u32>(p, q);
	subgroupMatrixStore<row_major>(&d, 0u, r, 16u);
}
