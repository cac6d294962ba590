//# max dispatch = 65535,65535,1
// The edges taken apart, the degrees counted, and the first edge found that names a node which does not exist.
// Counts and minimum do not depend on an order: no old value of an atomic is used.
struct Params {
	@size(4) edges: u32,
	@size(4) nodes: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> edges: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> sources: array<u32>;
@group(0) @binding(3) var<storage, read_write> targets: array<u32>;
@group(0) @binding(4) var<storage, read_write> out_degrees: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> in_degrees: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> first_bad: array<atomic<u32>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	if (lane < params.edges) {
		let edge = edges[lane];
		sources[lane] = edge.x;
		targets[lane] = edge.y;
		if (max(edge.x, edge.y) < params.nodes) {
			atomicAdd(&out_degrees[edge.x], 1u);
			atomicAdd(&in_degrees[edge.y], 1u);
		} else {
			atomicMin(&first_bad[0], lane);
		}
	}
}
