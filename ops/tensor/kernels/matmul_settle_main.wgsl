// The entry point of matmul_settle.wgsl, which stands in front, as does `share_of`; what is written for a word of the result stands for the dollar.
var<workgroup> marks: array<atomic<u32>, ELEMENTS / 32u>; // a bit an element

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let whole = share_of(group);
	let base = whole * ELEMENTS;
	var fresh: array<u32, SHARE>;
	var e = element(base + lane);
	for (var i = 0u; i < SHARE; i++) {
		let bits = temp[slot_of(e.x, e.y, e.z)];
		results[i * 64u + lane] = bits;
		if (bits == MARK) {
			atomicOr(&marks[i * 2u + lane / 32u], 1u << (lane % 32u));
		}
		e.z += 64u;
		if (e.z >= params.n) { // a division is dear
			e = element(base + (i + 1u) * 64u + lane);
		}
	}
	workgroupBarrier();
	var any_marked = 0u;
	for (var i = 0u; i < SHARE * 2u; i++) {
		any_marked |= atomicLoad(&marks[i]);
	}
	seen[lane] = any_marked;
	if (workgroupUniformLoad(&seen[0]) != 0u) {
		for (var part = 0u; part < SHARE * 2u; part++) {
			seen[lane] = atomicLoad(&marks[part]);
			let marked_here = workgroupUniformLoad(&seen[0]);
			for (var bit = 0u; bit < 32u; bit++) {
				if ((marked_here >> bit) == 0u) {
					break;
				}
				if (((marked_here >> bit) & 1u) != 0u) {
					let s = part * 32u + bit;
					let marked = element(base + s);
					sums[lane] = closer(marked, lane);
					workgroupBarrier();
					var bits = together(marked);
					seen[lane] = bits;
					if (workgroupUniformLoad(&seen[0]) == MARK) {
						terms(marked, lane);
						seen[lane] = saw;
						for (var half = 0u; half < DIGITS; half += 10u) {
							for (var d = 0u; d < 10u; d++) {
								digits[d * 64u + lane] = total[half + d];
							}
							workgroupBarrier();
							var column = 0li;
							for (var i = 0u; i < 64u; i++) {
								column += digits[min(lane, 9u) * 64u + i];
								saw |= seen[i];
							}
							if (lane < 10u) {
								wholes[half + lane] = column;
							}
							workgroupBarrier();
						}
						for (var d = 0u; d < DIGITS; d++) {
							total[d] = wholes[d];
						}
						bits = sum_round();
					}
					if ((s & 63u) == lane) {
						fresh[s >> 6u] = bits;
					}
				}
			}
		}
		for (var i = 0u; i < SHARE; i++) {
			if (results[i * 64u + lane] == MARK) {
				results[i * 64u + lane] = fresh[i];
			}
		}
		workgroupBarrier();
	}
	if (PER == 2u) { // a lane writes what others found, which that in the branch does not tell whoever proves it
		workgroupBarrier();
	}
	for (var i = 0u; i < (WORDS + 63u) / 64u; i++) {
		let w = i * 64u + lane;
		if (w < WORDS) {
			var word = results[w * PER];
			if (PER == 2u) {
				word |= select(0u, results[w * PER + PER - 1u] << 16u, base + w * PER + 1u < params.count);
			}
			y[whole * WORDS + w] = $;
		}
	}
}
