// Products of few rows with a transposed b on a GPU, in one dispatch: SPLIT lanes share a column's terms, the workgroup judges its sums and settles those that are in doubt.
// In front: LANES, SPLIT (lanes of a column), ROWS (rows together), EACH (columns of a group of lanes), TERMS (of a lane in a turn), GROUPS (of lanes) and COLUMNS of a
// workgroup, `nearest`, within.wgsl, matmul_settle.wgsl; behind: the entry point.
const FEW: u32 = max(SPLIT / 16u, 1u);
const ALL_GROUPS: u32 = GROUPS * 4u;

var<workgroup> parts: array<f64, LANES * 4u>; // [value][lane]
var<workgroup> few: array<f64, ALL_GROUPS * FEW>;
var<workgroup> any_marked: atomic<u32>;
var<workgroup> lengths: array<f64, ALL_GROUPS>; // norms of the workgroup's columns: of_column
var<workgroup> row_lengths: array<f64, ALL_GROUPS>; // of rows: of_row

// The sums of four values over the lanes of each group, as whole(v, group); all lanes arrive, and one more barrier makes them known.
fn join(lane: u32) {
	workgroupBarrier();
	if (lane < ALL_GROUPS * FEW) {
		let begin = (lane / FEW % 4u) * LANES + lane / (4u * FEW) * SPLIT + lane % FEW;
		var sum = parts[begin];
		for (var i = 1u; i < SPLIT / FEW; i++) {
			sum += parts[begin + i * FEW];
		}
		few[lane] = sum;
	}
	workgroupBarrier();
}

// Value v, 0 to 3, of group g.
fn whole_of(v: u32, g: u32) -> f64 {
	var sum = few[(g * 4u + v) * FEW];
	for (var i = 1u; i < FEW; i++) {
		sum += few[(g * 4u + v) * FEW + i];
	}
	return sum;
}

// What a sum says (SEMANTICS.md 4.4): a term goes through the additions of its lane, of blocks one more a turn and a product with
// a scale, and through those of the lanes; the magnitudes are no more
// than the product of the norms, of which 2^-20 covers what they are off by.
fn judged(x: f64, row: f64, column: f64) -> u32 {
	let most = row * column * 0x1.00001p0lf;
	let depth = params.k / SPLIT + TERMS + SPLIT + 4u;
	return within(x, f64(depth) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);
}

fn of_column(column: u32) -> u32 {
	return column / EACH * 4u + column % EACH;
}

fn of_row(row: u32) -> u32 {
	return row % GROUPS * 4u + row / GROUPS;
}

// As matmul_settle.wgsl asks for them: rows and columns of the workgroup begin at multiples of their numbers.
fn norm_a(z: u32, row: u32) -> vec2<f64> {
	return vec2<f64>(row_lengths[of_row(row)], 0.0lf);
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	return vec2<f64>(lengths[of_column(column % COLUMNS)], 0.0lf);
}

// Where the result of a column and row of the workgroup is: a group's values lie four by four.
fn slot_of(column: u32, row: u32) -> u32 {
	let v = column % EACH * ROWS + row;
	return (v >> 2u) * ALL_GROUPS + column / EACH * 4u + (v & 3u);
}

// The elements in doubt, one after the other, by the first 64 lanes. All lanes arrive.
fn settle_all(first: u32, lane: u32) {
	for (var s = 0u; s < COLUMNS * ROWS; s++) {
		let slot = slot_of(s / ROWS, s % ROWS);
		if (workgroupUniformLoad(&results[slot]) == MARK) {
			let marked = vec3<u32>(0u, s % ROWS, first + s / ROWS);
			if (lane < 64u) {
				sums[lane] = closer(marked, lane);
			}
			workgroupBarrier();
			var bits = together(marked);
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
