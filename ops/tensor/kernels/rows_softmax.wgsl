// softmax and log_softmax of rows (SEMANTICS.md 15.8, 15.9): each element is read once where it is kept, and written once. In front: rows_load.wgsl,
// rows_settle.wgsl, the trees `greatest` and `added`, LOGARITHM; the dollar stands for what `pack4` takes in front of a quad.
fn e_of(bits: u32, m: u32) -> u32 {
	if (bits == 0xff800000u) {
		return 0u;
	}
	return bitcast<u32>(exp(bitcast<f32>(bits) - bitcast<f32>(m)));
}

fn term(first: u32, row: u32, t: u32, which: u32) {
	sum_term(e_of(load1(first + (t >> 2u), t & 3u), tops[row]));
}

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) lid: vec3<u32>, @builtin(workgroup_id) wid: vec3<u32>) {
	let lane = lid.x;
	let at = lid.y * LANES + lane;
	let base = (wid.y * 65535u + wid.x) * ROWS;
	let row = base + lid.y;
	let quads = row_quads();
	let first = row * quads;
	let here = row < params.count;
	most = 0u;
	if (here) {
		rows_load(first, lane, at);
	}
	let key = greatest_together(lane, lid.y, most);
	let m = select(float_of(key), 0x7fc00000u, key == 0u);
	var sum = 0.0lf;
	if (here) {
		for (var i = 0u; i < 4u * steps; i++) {
			if ((i >> 2u) * LANES + lane >= quads) {
				break;
			}
			let e = e_of(kept_bits(first, lane, at, i), m);
			if (!LOGARITHM) {
				keep_one(i, at, e);
			}
			sum += f64(bitcast<f32>(e));
		}
	}
	let all = added_together(lane, lid.y, sum);
	var s = within(all, f64(params.depth) * all * 0x1p-53lf * 0x1.00001p0lf, all);
	if (lane == 0u) {
		tops[lid.y] = m;
	}
	if (any_doubt(lane, lid.y, here && s == MARK)) {
		for (var r = 0u; r < ROWS; r++) {
			if (workgroupUniformLoad(&doubts[r]) != 0u) {
				settle((base + r) * quads, r, at, 0u);
				let settled = sum_round();
				if (lid.y == r) {
					s = settled;
				}
			}
		}
	}
	if (here) {
		finish_begin(m, s);
		for (var j = 0u; j < steps; j++) {
			let q = j * LANES + lane;
			if (q >= quads) {
				break;
			}
			y[first + q] = pack4($finish4(first, lane, at, j));
		}
	}
}
