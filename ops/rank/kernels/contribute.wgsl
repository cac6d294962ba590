//# max dispatch = 65535,65535,1
// What each node gives to each of its out-edges, and the sum of the ranks of the nodes that have none, one sum a
// workgroup of 1024 nodes. Element `nodes` of the contributions is 0 for the padding of chunks.
struct Params {
	@size(4) nodes: u32,
	@size(4) first_sum: u32, // where the sums begin in `sums`
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> ranks: array<u64>;
@group(0) @binding(2) var<storage, read> out_degrees: array<u32>;
@group(0) @binding(3) var<storage, read_write> contributions: array<u64>;
@group(0) @binding(4) var<storage, read_write> sums: array<u64>;

var<workgroup> lane_sums: array<u64, 256>;
var<workgroup> row_sums: array<u64, 16>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let lane = lid.x;
	var dangling = u64(0u);
	for (var i = 0u; i < 4u; i++) {
		let node = group * 1024u + i * 256u + lane;
		if (node <= params.nodes) {
			var share = u64(0u);
			if (node < params.nodes) {
				let degree = out_degrees[node];
				let rank = ranks[node];
				if (degree == 0u) {
					dangling += rank;
				} else {
					share = rank / u64(degree);
				}
			}
			contributions[node] = share;
		}
	}
	lane_sums[lane] = dangling;
	workgroupBarrier();
	if (lane < 16u) {
		var sum = u64(0u);
		for (var i = 0u; i < 16u; i++) {
			sum += lane_sums[lane * 16u + i];
		}
		row_sums[lane] = sum;
	}
	workgroupBarrier();
	if (lane == 0u) {
		var sum = u64(0u);
		for (var i = 0u; i < 16u; i++) {
			sum += row_sums[i];
		}
		if (group * 1024u <= params.nodes) {
			sums[params.first_sum + group] = sum;
		}
	}
}
