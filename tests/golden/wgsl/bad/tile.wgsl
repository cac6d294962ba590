// expect: PC2226@6 PC2226@7 PC2226@8 PC2406@9 PC2421@10 PC2404@11 PC2404@12 PC2406@16 PC2406@17 PC2406@18 PC2410@19 PC2406@20 PC2226@21 PC2415@22 PC2406@23 PC2404@24 PC2406@25 PC2405@26
//# subgroup = 32
enable chromium_experimental_subgroup_matrix;
@group(0) @binding(0) var<storage, read> a: array<i32>;
@group(0) @binding(1) var<storage, read_write> c: array<u32>;
alias A = subgroup_matrix_left<i8, 64, 16>;
alias B = subgroup_matrix_result<i8, 16, 16>;
alias C = subgroup_matrix_left<i32, 32, 16>;
alias D = subgroup_matrix_left<i8, 32>;
var<private> e: subgroup_matrix_left<i8, 32, 16>;
alias F = array<subgroup_matrix_left<i8, 32, 16>, 2>;
struct G { g: subgroup_matrix_left<i8, 32, 16> }
alias L = subgroup_matrix_left<i8, 32, 16>;
alias R = subgroup_matrix_right<u8, 16, 32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) l: u32) {
	let x = subgroupMatrixLoad<L, diagonal>(&a, 0u, 32u);
	let y = subgroupMatrixLoad(&a, 0u, false, 32u);
	let z = subgroupMatrixLoad<L, row_major>(&c, 0u, 32u);
	let w = subgroupMatrixLoad<L>(&a, 0u, l == 1u, 32u);
	let v = subgroupMatrixLoad<i32, row_major>(&a, 0u, 32u);
	subgroupMatrixStore<row_major>(&c, 0u, R(), 16u);
	subgroupMatrixStore<row_major>(&a, 0u, subgroup_matrix_result<i32, 8, 8>(), 8u);
	let u = subgroupMatrixMultiply<i32>(L(), R());
	let t = subgroupMatrixMultiply<i32>(subgroup_matrix_left<u8, 32, 16>(), R());
	let s = L(1, 2);
	let r = L() == L();
}
