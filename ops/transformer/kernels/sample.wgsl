// A token of a row: a workgroup a row, no order made. All that is asked is for the shortest prefix of the order whose weight, or number, reaches an integer; so a
// threshold of the key is found bit by bit, from exact sums of what lies above it, and of equals how many are in. A turn is a pass over the row.
// In front: sample_place.wgsl and all that sample.c adds before it.
@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let row = wid.y * 65535u + wid.x;
	let first = row * sizes.tokens;
	let t = temperature[row];
	let m = greatest[row] / t;
	let wanted = top_k[row];
	let p = top_p[row];
	let floor = min_p[row];
	let drawn = row < sizes.rows && t > 0.0f && bitcast<u32>(t) < 0x7f800000u && greatest[row] >= -0x1.fffffep127f;
	var stage = select(DONE, TOTAL, drawn);
	var step = 0u;
	var x = 0u; // the threshold
	var above: Wide; // what lies above the threshold weighs, and how many there are
	var n_above = 0u;
	var inside = 0u; // candidates from the threshold to `span` above it, in which the goal is reached
	var span = 0u;
	var candidates = 0u;
	var goal: Wide;
	var kept: Wide; // what is kept weighs
	var last = 0u; // the least that is kept weighs, 0 while all are
	var at = 0u;
	var rank = 0u;

	params.v[0] = vec4<u32>(key[2u * row], key[2u * row + 1u], position[row], 0u);
	let random = philox(0u).xy;
	if (lane == 0u) {
		stage_now = stage;
	}
	for (var turn = 0u; turn < 128u; turn++) {
		if (workgroupUniformLoad(&stage_now) == DONE) {
			break;
		}
		let searching = stage == TOP_K || stage == TOP_P || stage == DRAW;
		let half = 0x80000000u >> min(step, 31u);
		let equals = (searching && step == EQUALS) || stage == PLACE;
		let low = max(select(select(1u, x + half, searching), x, equals), 1u); // 0 is no candidate's
		let high = select(select(0xffffffffu, x + (half - 1u) + half, searching), x + span, equals);
		let half_place = 0x20000u >> min(step, 17u);
		let until = min(select(sizes.tokens, at + half_place, stage == PLACE), sizes.tokens);
		let least = select(0u, bitcast<u32>(min(floor, 1.0f)), stage == MIN_P);
		let found = gather(first, lane, low, high, until, least, searching && step == EQUALS);
		var next = stage;
		if (searching && step < EQUALS) {
			let all = wide_add(above, found);
			let reached = select(!wide_below(all, goal), n_above + number >= wanted, stage == TOP_K);
			if (reached) {
				x += half;
				inside = number;
			} else {
				above = all;
				n_above += number;
				inside -= number;
			}
			// Where one is left it is the one.
			span = half - 1u;
			step = select(step + 1u, EQUALS, inside == 1u);
		} else if (searching) {
			if (number == 1u) {
				at = found.d[0];
				x = keys[first + at];
			}
			span = 0u;
			let bits = select(x & 0x7fffffffu, ~x, x >> 31u == 0u);
			let one = weight(bitcast<f32>(bits), m);
			let each = wide_of(one);
			let short = short_of(above, each, goal, n_above, select(0u, wanted, stage == TOP_K));
			if (stage == DRAW) {
				rank = short + 1u;
				at = select(0u, at, number == 1u);
				next = select(PLACE, DONE, number == 1u);
			} else {
				kept = wide_add(above, wide_times(each, short + 1u));
				last = one;
				next = stage + 1u;
			}
		} else if (stage == PLACE) {
			if (number < rank) {
				at = until;
			}
			step++;
			next = select(PLACE, DONE, step == 18u);
		} else {
			kept = found;
			candidates = select(candidates, number, stage == TOTAL);
			next = stage + 1u;
		}
		if (next != stage) {
			next = asked_from(next, wanted, candidates, p, floor, bitcast<f32>(last));
			if (next == TOP_P) {
				goal = wide_part(kept, bitcast<u32>(max(p, 0.0f)));
				if (wide_is_zero(goal)) {
					goal = wide_one();
				}
			}
			if (next == DRAW) {
				goal = wide_drawn(kept, random);
			}
			if (next < PLACE) {
				x = 0u;
				above = Wide();
				n_above = 0u;
				inside = candidates;
			}
			step = 0u;
		}
		stage = next;
		if (lane == 0u) {
			stage_now = stage;
		}
	}
	if (lane == 0u && row < sizes.rows) {
		token[row] = select(greedy[row], at, drawn);
	}
}
