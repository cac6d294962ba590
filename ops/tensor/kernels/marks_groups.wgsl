// How many workgroups a round of sum_marked.wgsl needs: those up to the last item of a marked result, and none where no result is marked.
@group(0) @binding(0) var<uniform> round: vec4<u32>; // results, runs, items of a workgroup
@group(0) @binding(1) var<storage, read> last: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	let items = select(round.x * (round.y - 1u) + last[0], 0u, last[0] == 0u);
	let groups = items / round.z + u32(items % round.z != 0u);
	if (id.x < 3u) {
		let along = select(min(groups, 65535u), (groups + 65534u) / 65535u, id.x == 1u);
		counts[id.x] = select(along, 1u, id.x == 2u);
	}
}
