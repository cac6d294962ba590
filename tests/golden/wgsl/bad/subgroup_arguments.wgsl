// expect: PC2406@6 PC2406@7 PC2404@8 PC2406@9 PC2410@10 PC2407@12 PC2406@13 PC2406@14 PC2404@15 PC2430@16
//# subgroup = 8
enable subgroups;
@group(0) @binding(0) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64) fn main() {
	let a = subgroupAdd(1lu);
	let b = subgroupOr(true);
	let c = subgroupAll(1u);
	let d = subgroupShuffle(1u);
	let e = subgroupBroadcast(1u, r[0]);
	let f = subgroupBroadcast(1u, 127);
	let g = subgroupShuffleUp(1u, -1);
	let h = subgroupShuffle(1u, 1.5);
	let i = subgroupShuffle(true, 1u);
	let j = subgroupShuffle(1u, 128);
	subgroupAdd(1u);
}
