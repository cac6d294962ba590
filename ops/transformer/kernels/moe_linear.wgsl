// Elements by sums in f64, LANES lanes an element, ROWS elements a workgroup; one that such a sum does not tell (within.wgsl) is settled by exact sums of all
// lanes (rows_settle.wgsl). In front: these, moe_place.wgsl, exact_sum.wgsl, sum_window.wgsl, rows_tree.wgsl as `found`, `exact_term` and
// `quick_terms`.
var<workgroup> settled: u32;

fn term(first: u32, row: u32, t: u32, which: u32) {
	let at = place(first);
	exact_term(x_bits(at.x_first + t), at.w_first + t);
}

@compute @workgroup_size(LANES, ROWS)
fn main(@builtin(local_invocation_id) lid: vec3<u32>, @builtin(workgroup_id) wid: vec3<u32>) {
	let base = (wid.y * 65535u + wid.x) * ROWS;
	let element = base + lid.y;
	let at = place(element);
	let known = element < params.count && at.expert < params.experts;
	sums = vec2<f64>();
	if (known) {
		for (var s = 0u; s < steps; s++) {
			let t = (s * LANES + lid.x) * 8u;
			if (t >= params.n) {
				break;
			}
			quick_terms(at.x_first + t, at.w_first + t, params.n - t);
		}
	}
	let all = found_together(lid.x, lid.y, sums);
	var bits = within(all.x, f64(params.depth) * all.y * 0x1.00001p-53lf, all.y);
	if (any_doubt(lid.x, lid.y, known && bits == MARK)) {
		for (var r = 0u; r < ROWS; r++) {
			if (workgroupUniformLoad(&doubts[r]) != 0u) {
				settle(base + r, r, lid.y * LANES + lid.x, 0u);
				workgroupBarrier();
				if (lid.x == 0u && lid.y == 0u) {
					settled = sum_round();
				}
				// By a uniform load: where only some lanes read what others wrote, PoCL 3.1 gives them something else.
				let exact = workgroupUniformLoad(&settled);
				bits = select(bits, exact, lid.y == r);
			}
		}
	}
	if (lid.x == 0u && element < params.count) {
		y[element] = given(element, at, bits);
	}
}
