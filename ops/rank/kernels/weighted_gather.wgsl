//# max dispatch = 65535,65535,1
// What each edge brings, along the edges in the order of their targets: an invocation owns `run` of them in a row and
// writes, for each, the sum from its first up to that one, and the sum of all of them. r w div W without a product of
// 128 bits: with q = r div W it is q w + (r - q W) w div W, and r - q W, w and W are below 2^32.
struct Params {
	@size(4) edges: u32,
}

override run: u32 = 64u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> links: array<vec2<u32>>; // source, weight
@group(0) @binding(2) var<storage, read> ranks: array<u64>;
@group(0) @binding(3) var<storage, read> totals: array<u32>;
@group(0) @binding(4) var<storage, read> shares: array<u64>; // rank div total
@group(0) @binding(5) var<storage, read_write> prefixes: array<u64>;
@group(0) @binding(6) var<storage, read_write> sums: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * run;
	if (first < params.edges) {
		var sum = u64(0u);
		for (var i = 0u; i < run; i++) {
			if (first + i < params.edges) {
				let link = links[first + i];
				let total = u64(totals[link.x]);
				let weight = u64(link.y);
				if (total != 0lu) {
					let share = shares[link.x];
					let rest = ranks[link.x] - share * total;
					sum += share * weight + rest * weight / total;
				}
				prefixes[first + i] = sum;
			}
		}
		sums[lane] = sum;
	}
}
