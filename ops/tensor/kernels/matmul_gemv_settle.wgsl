// Elements in doubt of a product of few rows (matmul_gemv.wgsl, in front), settled by the workgroup that found them.
// Lane's part of a sum and of what its roundings lost, all of the workgroup's: terms LANES apart, four asked for before the first is used.
fn closer_all(e: vec3<u32>, lane: u32) -> vec2<f64> {
	let at = factors_of(e);
	var s = vec2<f64>();
	for (var i = 0u; i < steps; i++) {
		let k = i * (4u * LANES) + lane;
		if (k >= terms_of()) {
			break;
		}
		s = twice(at, k, s);
		s = twice(at, k + LANES, s);
		s = twice(at, k + 2u * LANES, s);
		s = twice(at, k + 3u * LANES, s);
	}
	return s;
}

// n parts from `begin` on of what closer_all gave, or of what this did.
fn closer_first(begin: u32) -> vec2<f64> {
	var s = vec2<f64>();
	for (var i = 0u; i < LANES / 32u; i++) {
		s = plus(s, parts[begin + i]);
		s.y += parts[LANES + begin + i];
	}
	return s;
}

fn closer_next(begin: u32, n: u32) -> vec2<f64> {
	var s = vec2<f64>();
	for (var i = 0u; i < n; i++) {
		s = plus(s, sums[begin + i].x);
		s.y += sums[begin + i].y;
	}
	return s;
}

// The elements in doubt, one after the other: first by all lanes, and what is in doubt even then by the first 64. All lanes arrive.
fn settle_all(first: u32, lane: u32) {
	for (var s = 0u; s < COLUMNS * ROWS; s++) {
		let slot = slot_of(s / ROWS, s % ROWS);
		if (workgroupUniformLoad(&results[slot]) == MARK) {
			let marked = vec3<u32>(0u, s % ROWS, first + s / ROWS);
			bound = magnitudes(bounds[slot]);
			let own = closer_all(marked, lane);
			parts[lane] = own.x;
			parts[LANES + lane] = own.y;
			workgroupBarrier();
			if (lane < 32u) {
				sums[lane] = closer_first(lane * (LANES / 32u));
			}
			workgroupBarrier();
			if (lane < 4u) {
				sums[32u + lane] = closer_next(lane * 8u, 8u);
			}
			workgroupBarrier();
			var bits = said_of(marked, closer_next(32u, 4u));
			if (lane == 0u) {
				seen[0] = bits;
			}
			if (workgroupUniformLoad(&seen[0]) == MARK) {
				if (lane < 64u) {
					terms(marked, lane);
					seen[lane] = saw;
				}
				workgroupBarrier();
				for (var half = 0u; half < DIGITS; half += 10u) {
					if (lane < 64u) {
						for (var d = 0u; d < 10u; d++) {
							digits[d * 64u + lane] = total[half + d];
						}
					}
					workgroupBarrier();
					if (lane < 10u) {
						var column = 0li;
						for (var i = 0u; i < 64u; i++) {
							column += digits[lane * 64u + i];
						}
						wholes[half + lane] = column;
					}
					workgroupBarrier();
				}
				saw = 0u;
				for (var i = 0u; i < 64u; i++) {
					saw |= seen[i];
				}
				for (var d = 0u; d < DIGITS; d++) {
					total[d] = wholes[d];
				}
				bits = sum_round();
			}
			workgroupBarrier();
			if (lane == 0u) {
				results[slot] = bits;
			}
		}
	}
	workgroupBarrier();
}
