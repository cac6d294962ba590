//# max dispatch = 65535,65535,1
// Targets and numbers of the edges for the sort, in-degrees, and the weights of each node's out-edges added up byte by
// byte: four sums of up to 2^24 bytes, none of which can wrap. The first edge found that names a node which does not
// exist, and the first node with an edge of 2^32 or more. Sums and minima do not depend on an order.
struct Params {
	@size(4) edges: u32,
	@size(4) nodes: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> edges: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> weights: array<vec2<u32>>; // low word, high word
@group(0) @binding(3) var<storage, read_write> targets: array<u32>;
@group(0) @binding(4) var<storage, read_write> numbers: array<u32>;
@group(0) @binding(5) var<storage, read_write> in_degrees: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> byte_sums: array<atomic<u32>>;
@group(0) @binding(7) var<storage, read_write> first: array<atomic<u32>>; // edge, node

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	if (lane < params.edges) {
		let edge = edges[lane];
		targets[lane] = edge.y;
		numbers[lane] = lane;
		if (max(edge.x, edge.y) < params.nodes) {
			let weight = weights[lane];
			atomicAdd(&in_degrees[edge.y], 1u);
			atomicAdd(&byte_sums[edge.x * 4u], weight.x & 255u);
			atomicAdd(&byte_sums[edge.x * 4u + 1u], (weight.x >> 8u) & 255u);
			atomicAdd(&byte_sums[edge.x * 4u + 2u], (weight.x >> 16u) & 255u);
			atomicAdd(&byte_sums[edge.x * 4u + 3u], weight.x >> 24u);
			if (weight.y != 0u) {
				atomicMin(&first[1], edge.x);
			}
		} else {
			atomicMin(&first[0], lane);
		}
	}
}
