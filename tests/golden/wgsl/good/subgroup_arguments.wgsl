//# subgroup = 8
enable subgroups;
@group(0) @binding(0) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64) fn main() {
	let a = subgroupAdd(1);
	let b = subgroupOr(vec2(1u));
	let c = subgroupAll(r[0] == 1u);
	let d = subgroupShuffle(1u, r[0]);
	let e = subgroupBroadcast(1u, 3u + 4u);
	let f = subgroupBroadcast(1u, 127);
	let g = subgroupShuffleUp(1u, 1);
	let h = subgroupShuffle(1u, 1);
	let i = subgroupShuffle(1u, 1u);
	let j = subgroupShuffle(1u, 127);
	_ = subgroupAdd(1u);
}
