// Norms of rows (SEMANTICS.md 15.10): each element is read once where it is kept, and written once. In front: rows_load.wgsl, rows_settle.wgsl, the tree
// `found`, moments_judge.wgsl, `judged` (the bits of what the sums give), MEANS (they give a mean, too), the dollar (what `pack4` takes in front of a quad), `settled_bits`, and `value`.
fn term(first: u32, row: u32, t: u32, which: u32) {
	let bits = load1(first + (t >> 2u), t & 3u);
	if (which == 0u) {
		sum_term(bits);
	} else {
		sum_square(bits);
	}
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
	sums_clear();
	if (here) {
		rows_load(first, lane, at);
	}
	var bits = judged(found_together(lane, lid.y, sums_found()));
	if (any_doubt(lane, lid.y, here && (bits.x == MARK || bits.y == MARK))) {
		for (var r = 0u; r < ROWS; r++) {
			if (workgroupUniformLoad(&doubts[r]) != 0u) {
				for (var which = 1u - u32(MEANS); which < 2u; which++) {
					settle((base + r) * quads, r, at, which);
					settled_keep(at, which);
				}
				workgroupBarrier();
				if (at < 2u) {
					results[at] = settled_bits(at);
				}
				// By uniform loads: where only some lanes read what others wrote, PoCL 3.1 gives them something else.
				let mean = workgroupUniformLoad(&results[0]);
				let second = workgroupUniformLoad(&results[1]);
				bits = select(bits, vec2<u32>(mean, second), lid.y == r);
			}
		}
	}
	if (here) {
		let a = bitcast<f32>(bits.x);
		let r = root_of(bitcast<f32>(bits.y));
		for (var j = 0u; j < steps; j++) {
			let q = j * LANES + lane;
			if (q >= quads) {
				break;
			}
			let c = channel_of(row, 4u * q);
			y[first + q] = pack4($vec4<u32>(
				narrowed(value(bitcast<f32>(kept_bits(first, lane, at, 4u * j)), a, r, c.x)),
				narrowed(value(bitcast<f32>(kept_bits(first, lane, at, 4u * j + 1u)), a, r, c.y)),
				narrowed(value(bitcast<f32>(kept_bits(first, lane, at, 4u * j + 2u)), a, r, c.z)),
				narrowed(value(bitcast<f32>(kept_bits(first, lane, at, 4u * j + 3u)), a, r, c.w))));
		}
	}
}
