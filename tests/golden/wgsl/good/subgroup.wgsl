//# subgroup = 32
enable subgroups;
requires subgroup_id;
@group(0) @binding(0) var<storage, read_write> r: array<u32>;
struct In { @builtin(subgroup_id) number: u32, @builtin(num_subgroups) count: u32 }
@compute @workgroup_size(64)
fn main(@builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32, in: In) {
	let b = subgroupBallot(lane == 1u);
	let q = quadSwapX(1u);
	r[lane] = b.x + q + size + in.number + in.count;
}
