//# subgroup = 8
enable f16, subgroups;
@group(0) @binding(0) var<storage, read_write> r: array<f32>;
@compute @workgroup_size(64) fn main() {
	r[0] = subgroupShuffle(r[1], 1);
	r[1] = subgroupBroadcast(vec2(r[1], 1.0), 2u).y;
	r[2] = quadBroadcast(vec3(r[0]), 3).z + f32(subgroupShuffleUp(vec3h(1h), 1).x) + subgroupBroadcastFirst(1.5);
	r[3] = f32(subgroupMax(i32(r[0]))) + f32(subgroupXor(7));
}
