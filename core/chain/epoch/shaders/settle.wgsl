//# max dispatch = 65535,1,1
// The other half of an iteration of rank.weighted: new ranks from what spread.wgsl summed up.
@group(0) @binding(0) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read> graph: array<u32>;
@group(1) @binding(0) var<storage, read_write> ranks: array<u64>;

override damping_ppm: u32 = 850000u;

fn sum(place: u32) -> u64 {
	return u64(sums[place]) + (u64(sums[place + 1u]) << 10u) + (u64(sums[place + 2u]) << 20u) +
	       (u64(sums[place + 3u]) << 30u) + (u64(sums[place + 4u]) << 40u);
}

// The ranks' own scale of a million, whatever the canonical one is.
fn scale(x: u64, k: u64) -> u64 {
	let whole = x / 1000000lu;
	return k * whole + k * (x - whole * 1000000lu) / 1000000lu;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let nodes = graph[3];
	if (gid.x < nodes) {
		let damping = u64(min(damping_ppm, 1000000u));
		let share = sum(nodes * 5u) / u64(nodes);
		let base = scale(1000000000000000lu / u64(nodes), 1000000lu - damping);
		ranks[gid.x] = scale(sum(gid.x * 5u) + share, damping) + base;
	}
}
