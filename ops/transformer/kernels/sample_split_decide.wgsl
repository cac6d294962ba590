// What a turn of sample_split.wgsl, which stands in front, decides from what was found.
// The bin in which the goal is reached, from the highest on: four bits more of the threshold.
fn search(wanted: u32) {
	var found = false;
	for (var i = 0u; i < 16u; i++) {
		let bin = 15u - i;
		if (!found) {
			let all = wide_add(s.above, bin_sum(bin));
			let n = bin_number(bin);
			if (select(!wide_below(all, s.goal), s.n_above + n >= wanted, s.stage == TOP_K)) {
				found = true;
				number = n;
				s.x |= bin << (28u - 4u * s.step);
			} else {
				s.above = all;
				s.n_above += n;
			}
		}
	}
	s.step++;
}

// Of equals at the threshold, which in the order of tokens: four bits more of its number.
fn find() {
	var found = false;
	for (var bin = 0u; bin < 16u; bin++) {
		let n = bin_number(bin);
		if (!found && n >= s.rank) {
			found = true;
			s.at |= bin << (16u - 4u * s.step);
		}
		s.rank -= select(n, 0u, found);
	}
	s.step++;
}

fn decide(row: u32) {
	let t = temperature[row];
	let m = greatest[row] / t;
	let wanted = top_k[row];
	let p = top_p[row];
	let floor = min_p[row];
	var next = s.stage;
	if (s.begun == 0u) {
		s.begun = 1u;
		s.stage = select(DONE, TOTAL, t > 0.0f && bitcast<u32>(t) < 0x7f800000u && greatest[row] >= -0x1.fffffep127f);
		next = s.stage;
	} else if (s.stage == TOP_K || s.stage == TOP_P || s.stage == DRAW) {
		search(wanted);
		if (s.step == 8u) {
			let bits = select(s.x & 0x7fffffffu, ~s.x, s.x >> 31u == 0u);
			let one = weight(bitcast<f32>(bits), m);
			let each = wide_of(one);
			let short = short_of(s.above, each, s.goal, s.n_above, select(0u, wanted, s.stage == TOP_K));
			s.rank = short + 1u;
			next = s.stage + 1u;
			if (s.stage != DRAW) {
				s.kept = wide_add(s.above, wide_times(each, short + 1u));
				s.last = one;
			}
		}
	} else if (s.stage == PLACE) {
		find();
		next = select(PLACE, DONE, s.step == 5u);
	} else if (s.stage != DONE) {
		s.kept = bin_sum(0u);
		s.candidates = select(s.candidates, bin_number(0u), s.stage == TOTAL);
		next = s.stage + 1u;
	}
	if (next != s.stage) {
		next = asked_from(next, wanted, s.candidates, p, floor, bitcast<f32>(s.last));
		if (next == TOP_P) {
			s.goal = wide_part(s.kept, bitcast<u32>(max(p, 0.0f)));
			if (wide_is_zero(s.goal)) {
				s.goal = wide_one();
			}
		}
		if (next == DRAW) {
			params.v[0] = vec4<u32>(key[2u * row], key[2u * row + 1u], position[row], 0u);
			s.goal = wide_drawn(s.kept, philox(0u).xy);
		}
		if (next < PLACE) {
			s.x = 0u;
			s.above = Wide();
			s.n_above = 0u;
		}
		s.at = select(0u, s.at, next == DONE);
		s.step = 0u;
	}
	s.stage = select(next, s.stage, s.stage == DONE);
}
