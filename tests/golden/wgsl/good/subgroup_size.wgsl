//# subgroup = 4
enable subgroups;
@group(0) @binding(0) var<storage, read_write> r: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(subgroup_size) size: u32) {
	r[0] = subgroupAdd(1u);
	if (subgroupElect()) { r[1] = 1u; }
}
