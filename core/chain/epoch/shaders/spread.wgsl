//# max dispatch = 65535,1,1
// One half of an iteration of rank.weighted over a snapshot of the graph (core/chain/epoch/snapshot.h): what each edge brings
// its target, and the ranks of the nodes whose edges weigh nothing. A sum of numbers below 2^50 is kept in five words
// that count 10 bits each, so that 2^22 addends fit and their order does not show: element i of the output for node i,
// the last for those nodes. An invocation handles one edge, or one node behind the edges.
@group(0) @binding(0) var<storage, read> ranks: array<u64>; // of the iteration before; empty: every rank is S div n
@group(0) @binding(2) var<storage, read> graph: array<u32>;
@group(1) @binding(0) var<storage, read_write> sums: array<atomic<u32>>;

fn add(element: u32, value: u64) {
	atomicAdd(&sums[element * 5u], u32(value & 1023lu));
	atomicAdd(&sums[element * 5u + 1u], u32((value >> 10u) & 1023lu));
	atomicAdd(&sums[element * 5u + 2u], u32((value >> 20u) & 1023lu));
	atomicAdd(&sums[element * 5u + 3u], u32((value >> 30u) & 1023lu));
	atomicAdd(&sums[element * 5u + 4u], u32(value >> 40u));
}

fn rank_of(node: u32, nodes: u32) -> u64 {
	var rank = 1000000000000000lu / u64(nodes);
	if (arrayLength(&ranks) > 0u) {
		rank = ranks[node];
	}
	return rank;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let nodes = graph[3];
	let edges = graph[4];
	if (gid.x < edges) {
		let ends = 16u + nodes + 2u * gid.x;
		let source = graph[ends];
		let total = u64(graph[16u + source]);
		if (total != 0lu) {
			// rank weight div total, exactly: rank - share total, weight and total are below 2^32.
			let weight = u64(graph[16u + nodes + 2u * edges + gid.x]);
			let rank = rank_of(source, nodes);
			let share = rank / total;
			add(graph[ends + 1u], share * weight + (rank - share * total) * weight / total);
		}
	} else if (gid.x - edges < nodes) {
		if (graph[16u + gid.x - edges] == 0u) {
			add(nodes, rank_of(gid.x - edges, nodes));
		}
	}
}
