//# max dispatch = 65535,65535,1
// The new rank of each node: the difference of two prefix sums gives what its in-edges bring, the share of the
// nodes without out-edges is added, and the whole is damped.
struct Params {
	@size(8) base: u64, // scale(S div n, 10^6 - d)
	@size(4) nodes: u32,
	@size(4) run_log2: u32, // chunks of a gathering invocation
	@size(4) runs: u32, // sums of runs in front, the dangling sums follow
	@size(4) dangling: u32, // how many they are
	@size(4) damping: u32, // parts per million
	@size(4) reserved: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> prefixes: array<u64>;
@group(0) @binding(3) var<storage, read> sums: array<u64>;
@group(0) @binding(4) var<storage, read> offsets: array<u64>; // exclusive prefix sums of `sums`
@group(0) @binding(5) var<storage, read_write> ranks: array<u64>;

var<workgroup> shared_share: u64;

// The sum over all chunks before `chunk`.
fn before(chunk: u32) -> u64 {
	var sum = u64(0u);
	if (chunk > 0u) {
		sum = prefixes[chunk - 1u] + offsets[(chunk - 1u) >> params.run_log2];
	}
	return sum;
}

// x div 10^6 by the reciprocal of 15625: with m = ceil(2^72 / 15625) and y = x div 2^6 below 2^58, y m div 2^72 is
// y div 15625 exactly, for m 15625 - 2^72 is below 2^14. The high half of the product comes from four products of halves.
fn millions(x: u64) -> u64 {
	let m_low = 763061070lu;
	let m_high = 70368744lu;
	let y = x >> 6u;
	let low = y & 0xfffffffflu;
	let high = y >> 32u;
	let cross = high * m_low + ((low * m_low) >> 32u);
	let middle = low * m_high + (cross & 0xfffffffflu);
	return (high * m_high + (cross >> 32u) + (middle >> 32u)) >> 8u;
}

fn scale(x: u64, k: u64) -> u64 {
	let whole = millions(x);
	return k * whole + millions(k * (x - whole * 1000000lu));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	if (lid.x == 0u) {
		let last = params.runs + params.dangling - 1u;
		let all = offsets[last] + sums[last] - offsets[params.runs];
		shared_share = all / u64(params.nodes);
	}
	workgroupBarrier();
	for (var i = 0u; i < 4u; i++) {
		let node = group * 1024u + i * 256u + lid.x;
		if (node < params.nodes) {
			let brought = before(rows[node + 1u]) - before(rows[node]);
			ranks[node] = scale(brought + shared_share, u64(params.damping)) + params.base;
		}
	}
}
