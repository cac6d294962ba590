// A part of a row looked through in a turn of sample_split.wgsl and sample_split_decide.wgsl, which stand in front.
// A candidate more in a bin.
fn add(bin: u32, w: u32) {
	let field = w >> 23u;
	let bit = max(field, 1u) - 1u;
	let part = u64((w & 0x7fffffu) | select(0x800000u, 0u, field == 0u)) << (bit & 31u);
	let to = bin * WORDS + (bit >> 5u) * 2u;
	atomicAdd(&halves[to], u32(part & 0xfffflu));
	atomicAdd(&halves[to + 1u], u32((part >> 16u) & 0xfffflu));
	atomicAdd(&halves[to + 2u], u32((part >> 32u) & 0xfffflu));
	atomicAdd(&halves[to + 3u], u32(part >> 48u));
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let whole = wid.y * 65535u + wid.x;
	let row = min(whole / PARTS, sizes.rows - 1u);
	if (lane < SUMS) {
		var sum = 0lu;
		for (var p = 0u; p < PARTS; p++) {
			sum += u64(sums_before[(row * PARTS + p) * SUMS + lane]);
		}
		totals[lane] = sum;
	}
	workgroupBarrier();
	if (lane == 0u) {
		state_load(whole * STATE);
		decide(row);
		state_keep();
	}
	workgroupBarrier();
	if (lane < STATE) {
		state_after[whole * STATE + lane] = now[lane];
	}
	let stage = now[1];
	let step = now[2];
	let x = now[3];
	let at = now[7];
	let least = select(0u, bitcast<u32>(min(min_p[row], 1.0f)), stage == MIN_P);
	let searching = stage == TOP_K || stage == TOP_P || stage == DRAW;
	let shift = 28u - 4u * min(step, 7u);
	let place_shift = 16u - 4u * min(step, 4u);
	let each = (sizes.tokens + PARTS - 1u) / PARTS;
	let begin = whole % PARTS * each;
	if (stage != DONE) {
		for (var n = 0u; n < steps; n++) {
			let i = begin + n * 256u + lane;
			if (n * 256u + lane >= each || i >= sizes.tokens) {
				break;
			}
			let k = keys[row * sizes.tokens + i];
			let w = weights[row * sizes.tokens + i];
			let near = ((k ^ x) >> shift) < 16u;
			let equal = k == x && ((i ^ at) >> place_shift) < 16u;
			let inside = k != 0u && w >= least && select(select(true, near, searching), equal, stage == PLACE);
			let bin = select(select(0u, (k >> shift) & 15u, searching), (i >> place_shift) & 15u, stage == PLACE);
			if (inside) {
				atomicAdd(&halves[bin * WORDS + WORDS - 1u], 1u);
				if (stage != PLACE) {
					add(bin, w);
				}
			}
		}
	}
	workgroupBarrier();
	if (lane < SUMS) {
		sums_after[whole * SUMS + lane] = atomicLoad(&halves[lane]);
	}
}
