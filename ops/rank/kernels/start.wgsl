//# max dispatch = 65535,65535,1
// The ranks before the first iteration, and how many chunks of four in-edges each node needs. in_degrees and
// chunk_counts have one element more than there are nodes, 0 at the end, so that their exclusive scans have too.
struct Params {
	@size(8) start: u64,
	@size(4) nodes: u32,
	@size(4) reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> in_degrees: array<u32>;
@group(0) @binding(2) var<storage, read_write> chunk_counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> ranks: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let node = gid.y * 4194240u + gid.x;
	if (node <= params.nodes) {
		chunk_counts[node] = (in_degrees[node] + 3u) >> 2u;
	}
	if (node < params.nodes) {
		ranks[node] = params.start;
	}
}
