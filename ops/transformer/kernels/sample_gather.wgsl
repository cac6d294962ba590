// Passes of sample.wgsl over a row.
// What the lanes found in 16 bits each, all turns together: what a turn adds is the difference.
var<workgroup> halves: array<atomic<u32>, 12>;
var<workgroup> stage_now: u32;
var<private> seen: array<u32, 12>;

// The weight of candidates with keys from `low` to `high`, of tokens below `until`, that weigh `least` or more; instead of weights, their tokens, where
// `tokens` is true. All lanes arrive.
fn gather(first: u32, lane: u32, low: u32, high: u32, until: u32, least: u32, tokens: bool) -> Wide {
	unit_clear();
	for (var s = 0u; s < steps; s++) {
		let start = s * (LANES * AHEAD) + lane;
		if (start >= until) {
			break;
		}
		// All are under way before the first is looked at.
		var k: array<u32, AHEAD>;
		for (var j = 0u; j < AHEAD; j++) {
			k[j] = keys[first + min(start + j * LANES, until - 1u)];
		}
		for (var j = 0u; j < AHEAD; j++) {
			let i = start + j * LANES;
			if (i < until && k[j] >= low && k[j] <= high) {
				let w = weights[first + i];
				if (w >= least) {
					if (tokens) {
						unit[0] += u64(i);
					} else {
						unit_add(w);
					}
					unit[5] += 1lu << NUMBER_BIT;
				}
			}
		}
	}
	unit_carry();
	for (var d = 0u; d < 6u; d++) {
		atomicAdd(&halves[2u * d], u32(unit[d] & 0xfffflu));
		atomicAdd(&halves[2u * d + 1u], u32(unit[d] >> 16u));
	}
	workgroupBarrier();
	var sum: Wide;
	var carry = 0lu;
	for (var d = 0u; d < 6u; d++) {
		let low_half = atomicLoad(&halves[2u * d]);
		let high_half = atomicLoad(&halves[2u * d + 1u]);
		carry += u64(low_half - seen[2u * d]) + (u64(high_half - seen[2u * d + 1u]) << 16u);
		sum.d[d] = u32(carry & 0xfffffffflu);
		carry = carry >> 32u;
		seen[2u * d] = low_half;
		seen[2u * d + 1u] = high_half;
	}
	number = sum.d[5] >> NUMBER_BIT;
	sum.d[5] &= (1u << NUMBER_BIT) - 1u;
	workgroupBarrier();
	return sum;
}
