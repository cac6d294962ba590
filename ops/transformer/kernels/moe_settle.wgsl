// Elements out of their tiles, 64 a workgroup: what is in doubt is settled by exact sums that all lanes share. In front: moe_place.wgsl, within.wgsl, sum_lanes.wgsl (ROWS is 1), `exact_term`, `temp`,
// `slots`, TILE_ROWS.
var<workgroup> results: array<u32, 64>;
var<workgroup> settled: u32;
var<workgroup> doubted: atomic<u32>;

// All lanes arrive; lane 0 comes back with the sum in `total` and `saw`.
fn settle(element: u32, lane: u32) {
	let at = place(element);
	sum_clear();
	for (var s = 0u; s < steps; s++) {
		let t = s * 64u + lane;
		if (t >= params.n) {
			break;
		}
		exact_term(x_bits(at.x_first + t), at.w_first + t);
	}
	sum_join(lane);
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let base = (wid.y * 65535u + wid.x) * 64u;
	let element = base + lane;
	let at = place(element);
	let slot = max(slots[element / params.m], 1u) - 1u;
	let j = element % params.m;
	let tile = slot / TILE_ROWS * ((params.m + 63u) / 64u) + j / 64u;
	var bits = 0u;
	if (element < params.count && at.expert < params.experts) {
		bits = temp[(tile * TILE_ROWS + slot % TILE_ROWS) * 64u + j % 64u];
	}
	results[lane] = bits;
	if (bits == MARK) {
		atomicOr(&doubted, 1u);
	}
	workgroupBarrier();
	if (lane == 0u) {
		settled = atomicLoad(&doubted);
	}
	if (workgroupUniformLoad(&settled) != 0u) {
		for (var i = 0u; i < 64u; i++) {
			if (workgroupUniformLoad(&results[i]) == MARK) {
				settle(base + i, lane);
				if (lane == 0u) {
					settled = sum_round();
				}
				let exact = workgroupUniformLoad(&settled);
				bits = select(bits, exact, lane == i);
			}
		}
	}
	if (element < params.count) {
		y[element] = given(element, at, bits);
	}
}
