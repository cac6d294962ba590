// Only what no rank iteration can do without: every source is read, its contribution fetched and added; one sum leaves for
// sixteen edges. No scan, no rows: the floor under rank.step on a device.
@group(0) @binding(0) var<storage, read> sources: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> contributions: array<u64>;
@group(0) @binding(2) var<storage, read_write> sums: array<u64>;

fn four(at: u32) -> u64 {
	let s = sources[at];
	return contributions[s.x] + contributions[s.y] + contributions[s.z] + contributions[s.w];
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let first = wid.x * 1024u + lid.x;
	let i = wid.x * 256u + lid.x;
	if (i < arrayLength(&sums)) {
		sums[i] = four(first) + four(first + 256u) + four(first + 512u) + four(first + 768u);
	}
}
