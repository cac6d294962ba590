// The first k experts of a row and their weights: a workgroup a row, an expert found a turn. In front: unit_sum.wgsl, CHOSEN (how many they are: a number, so that where a
// row's lie is proven to be its own), SOFTMAX (the weights are the softmax of the scores that were chosen) and NORM (they are divided by their sum).
override steps: u32; // scores of a lane

struct Sizes {
	@size(4) rows: u32,
	@size(12) experts: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> scores: array<u32>;
@group(0) @binding(2) var<storage, read_write> experts: array<u32>;
@group(0) @binding(3) var<storage, read_write> weights: array<u32>;

const NONE: u32 = 0xffffffffu;
var<workgroup> of_lanes: array<vec2<u32>, 64>; // a key and the expert that has it
var<workgroup> of_few: array<vec2<u32>, 8>;
var<workgroup> chosen: array<u32, 64>; // bits of scores, then of what is summed

// Ascends as 16.6 has it.
fn order_key(bits: u32) -> u32 {
	return select(bits | 0x80000000u, ~bits, bits >> 31u == 1u);
}

fn earlier(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
	let second = a.y == NONE || (b.y != NONE && (b.x > a.x || (b.x == a.x && b.y < a.y)));
	return select(a, b, second);
}

// The exact sum of what was chosen, rounded once; NaN where one is.
fn sum_of_chosen() -> f32 {
	var wrong = false;
	unit_clear();
	for (var i = 0u; i < 64u; i++) {
		if (i >= CHOSEN) {
			break;
		}
		wrong = wrong || chosen[i] > 0x3f800000u;
		unit_add(select(chosen[i], 0u, wrong));
	}
	unit_carry();
	return bitcast<f32>(select(unit_round(), 0x7fc00000u, wrong));
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let row = wid.y * 65535u + wid.x;
	let first = row * sizes.experts;
	var before = vec2<u32>(NONE, NONE); // what the turn before found
	var mine = 0u;
	for (var r = 0u; r < 64u; r++) {
		if (r >= CHOSEN) {
			break;
		}
		var best = vec2<u32>(0u, NONE);
		for (var s = 0u; s < steps; s++) {
			let e = s * 64u + lane;
			if (e >= sizes.experts) {
				break;
			}
			let key = order_key(scores[first + e]);
			if (r == 0u || key < before.x || (key == before.x && e > before.y)) {
				best = earlier(best, vec2<u32>(key, e));
			}
		}
		of_lanes[lane] = best;
		workgroupBarrier();
		if (lane < 8u) {
			var some = of_lanes[lane];
			for (var i = 1u; i < 8u; i++) {
				some = earlier(some, of_lanes[i * 8u + lane]);
			}
			of_few[lane] = some;
		}
		workgroupBarrier();
		before = of_few[0];
		for (var i = 1u; i < 8u; i++) {
			before = earlier(before, of_few[i]);
		}
		mine = select(mine, before.y, lane == r);
	}
	var bits = 0u;
	if (lane < CHOSEN) {
		bits = scores[first + mine];
	}
	chosen[lane] = bits;
	workgroupBarrier();
	var x = bitcast<f32>(bits);
	if (SOFTMAX) {
		var m = bitcast<f32>(chosen[0]);
		for (var i = 1u; i < 64u; i++) {
			if (i >= CHOSEN) {
				break;
			}
			m = max(m, bitcast<f32>(chosen[i]));
		}
		x = select(exp(x - m), 0.0f, bits == 0xff800000u);
		workgroupBarrier();
		chosen[lane] = bitcast<u32>(x);
		workgroupBarrier();
	}
	if (SOFTMAX || NORM) {
		let sum = sum_of_chosen();
		x = select(x / sum, 0.0f, SOFTMAX && sum == 0.0f);
	}
	if (lane < CHOSEN && row < sizes.rows) {
		experts[row * CHOSEN + lane] = mine;
		weights[row * CHOSEN + lane] = bitcast<u32>(x);
	}
}
