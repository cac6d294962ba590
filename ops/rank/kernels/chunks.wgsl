//# max dispatch = 65535,65535,1
// The chunks of the graph: four sources of in-edges of one node. What a node leaves over in its last chunk, and
// chunks no node needs, hold the number of nodes, whose contribution is 0.
struct Params {
	@size(4) chunks: u32,
	@size(4) nodes: u32,
	@size(4) steps: u32, // of the search: log2(nodes + 1) + 1
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<u32>; // first chunk of each node
@group(0) @binding(2) var<storage, read> begins: array<u32>; // first sorted edge of each node
@group(0) @binding(3) var<storage, read> sources: array<u32>; // in the order of the targets
@group(0) @binding(4) var<storage, read_write> chunks: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let chunk = gid.y * 4194240u + gid.x;
	if (chunk < params.chunks) {
		// The number of rows that begin at this chunk or before; the last of them holds it.
		var low = 0u;
		var high = params.nodes + 1u;
		for (var step = 0u; step < min(params.steps, 32u); step++) {
			if (low < high) {
				let middle = low + ((high - low) >> 1u);
				if (rows[middle] <= chunk) {
					low = middle + 1u;
				} else {
					high = middle;
				}
			}
		}
		var sources_here = vec4<u32>(params.nodes);
		if (low > 0u) {
			if (low <= params.nodes) {
				let at = begins[low - 1u] + 4u * (chunk - rows[low - 1u]);
				let end = begins[low];
				if (at < end) {
					sources_here.x = sources[at];
				}
				if (at + 1u < end) {
					sources_here.y = sources[at + 1u];
				}
				if (at + 2u < end) {
					sources_here.z = sources[at + 2u];
				}
				if (at + 3u < end) {
					sources_here.w = sources[at + 3u];
				}
			}
		}
		chunks[chunk] = sources_here;
	}
}
