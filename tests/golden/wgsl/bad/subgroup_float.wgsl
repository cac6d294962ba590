// expect: PC2223@6 PC2223@7 PC2223@8 PC2223@9
//# subgroup = 8
enable subgroups;
@group(0) @binding(0) var<storage, read_write> r: array<f32>;
@compute @workgroup_size(64) fn main() {
	r[0] = subgroupAdd(r[1]);
	r[1] = subgroupInclusiveMul(vec2(r[1], 1.0)).y;
	r[2] = subgroupMax(r[0]);
	let x = subgroupXor(1.5);
}
