// Passes of sample.wgsl over a row.
// What the lanes found in 16 bits each, all turns together: what a turn adds is the difference.
var<workgroup> halves: array<atomic<u32>, 12>;
var<workgroup> stage_now: u32;
var<private> seen: array<u32, 12>;
var<private> number: u32;

// The weight of candidates with keys from `low` to `high`, of tokens below `until`, that weigh `least` or more; instead of weights, their tokens, where
// `tokens` is true. All lanes arrive.
fn gather(first: u32, lane: u32, low: u32, high: u32, until: u32, least: u32, tokens: bool) -> Wide {
	unit_clear();
	for (var s = 0u; s < steps; s++) {
		let i = s * LANES + lane;
		if (i >= until) {
			break;
		}
		let k = keys[first + i];
		if (k >= low && k <= high) {
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

// Of `number` equals the most of which the goal, or a wanted number, is not reached.
fn short_of(above: Wide, each: Wide, goal: Wide, n_above: u32, wanted: u32) -> u32 {
	var short = 0u;
	for (var bit = 0u; bit < 18u; bit++) {
		let more = short + (0x20000u >> bit);
		let is_short = select(wide_below(wide_add(above, wide_times(each, more)), goal),
			n_above + more < wanted, wanted != 0u);
		if (more < number && is_short) {
			short = more;
		}
	}
	return short;
}
