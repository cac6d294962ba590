// What attention_line.wgsl shares within a workgroup: numbers of lanes together, and exact sums of what is in doubt. In front: attention_place.wgsl, attention_weight.wgsl, extreme_key.wgsl,
// exact_sum.wgsl, within.wgsl, PER, `scores`, `v`.
override steps: u32; // no less than tiles of keys and sequences

const LANES: u32 = 256u;
const KEYS: u32 = 1024u;
const SHARES: u32 = LANES / PER;
const AT_ONCE: u32 = 8u; // values asked for before the first is used
const WEIGHTS: u32 = 0xffffffffu; // no element: the weights alone

var<workgroup> weights: array<f64, KEYS>;
var<workgroup> places: array<u32, KEYS>;
var<workgroup> parts: array<vec2<f64>, LANES>;
var<workgroup> keys: array<u32, LANES>;
var<workgroup> sixteen: array<f64, 16>;
var<workgroup> sight: vec2<u32>;
var<workgroup> greatest: u32;
var<workgroup> said: u32;
var<workgroup> results: array<u32, PER>;
var<workgroup> doubted: atomic<u32>;
var<workgroup> digits: array<array<u32, 64>, 21>;
var<workgroup> wholes: array<u64, 21>;

// Value `element` of key `at` of a pass, as bits; of one that is not there 0.
fn value_at(at: u32, j: u32, element: u32) -> u32 {
	let place = places[at];
	return select(v_bits((place * params.v[1].y + j) * params.v[1].z + element), 0u, place == KV_NOWHERE);
}

fn four(at: u32, j: u32, element: u32) -> vec4<u32> {
	return vec4<u32>(value_at(at, j, element), value_at(at + SHARES, j, element), value_at(at + 2u * SHARES, j, element), value_at(at + 3u * SHARES, j, element));
}

fn weighted(at: u32, x: vec4<f64>, sum: f64) -> f64 {
	return more(weights[at + 3u * SHARES], x.w, more(weights[at + 2u * SHARES], x.z, more(weights[at + SHARES], x.y, more(weights[at], x.x, sum))));
}

// All lanes arrive, and come back with the exact sum of a line's weights, or of weights times an element, in `total` and `saw`.
fn settle(shared_by: u32, r: u32, element: u32, lane: u32) {
	let line = line_of(shared_by, r);
	let see = seen(line, r);
	sum_clear();
	if (lane < 64u) {
		for (var k = 0u; k < steps; k++) {
			let key = (see.x / TILE + k) * TILE + lane;
			if (key >= see.y) {
				break;
			}
			let place = kv_place(line.b, key);
			if (key >= see.x && place != KV_NOWHERE) {
				var x = 0x3f800000u;
				if (element != WEIGHTS) {
					x = v_bits((place * params.v[1].y + line.j) * params.v[1].z + element);
				}
				sum_product(weight_of(scores[score_place(shared_by, r, key)], greatest), x);
			}
		}
		sum_carry();
		for (var digit = 0u; digit < DIGITS; digit++) {
			digits[digit][lane] = u32(total[digit]);
		}
		digits[20][lane] = saw;
	}
	workgroupBarrier();
	if (lane < 21u) {
		var sum = 0lu;
		for (var k = 0u; k < 64u; k++) {
			let digit = u64(digits[lane][k]);
			sum = select(sum + digit, sum | digit, lane == 20u);
		}
		wholes[lane] = sum;
	}
	workgroupBarrier();
	for (var digit = 0u; digit < DIGITS; digit++) {
		total[digit] = i64(wholes[digit]);
	}
	saw = u32(wholes[20]);
}

fn greatest_together(lane: u32, mine: u32) {
	keys[lane] = mine;
	workgroupBarrier();
	var all = 0u;
	if (lane < 16u) {
		for (var k = 0u; k < 16u; k++) {
			all = max(all, keys[lane * 16u + k]);
		}
	}
	workgroupBarrier();
	if (lane < 16u) {
		keys[lane] = all;
	}
	workgroupBarrier();
	if (lane == 0u) {
		for (var k = 1u; k < 16u; k++) {
			all = max(all, keys[k]);
		}
		greatest = select(float_of(all), 0x7fc00000u, all == 0u);
	}
}

// The sum of all lanes' weights, judged by lane 0; what each lane had comes in parts[lane].x.
fn weights_together(lane: u32) {
	workgroupBarrier();
	if (lane < 16u) {
		var some = 0.0lf;
		for (var k = 0u; k < 16u; k++) {
			some += parts[lane * 16u + k].x;
		}
		sixteen[lane] = some;
	}
	workgroupBarrier();
	if (lane == 0u) {
		var all = 0.0lf;
		for (var k = 0u; k < 16u; k++) {
			all += sixteen[k];
		}
		said = within(all, f64(steps + 64u) * all * 0x1p-53lf * 0x1.00001p0lf, all);
	}
}
