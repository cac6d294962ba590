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

// The next stage that was asked for.
fn asked_from(stage: u32, wanted: u32, candidates: u32, p: f32, floor: f32, last: f32) -> u32 {
	var next = stage;
	if (next == TOP_K && (wanted == 0u || wanted >= candidates)) {
		next = TOP_P;
	}
	if (next == TOP_P && !(p < 1.0f)) {
		next = MIN_P;
	}
	if (next == MIN_P && !(floor > 0.0f && last < min(floor, 1.0f))) {
		next = DRAW;
	}
	return next;
}
