// Elements that were marked, settled: all lanes of a workgroup share the terms of one. First each rounding of an f64 sum is kept and added up beside it;
// what is in doubt still, by exact integer sums, whose digits are added in workgroup memory. In front: exact_sum.wgsl, SHARE (slots an invocation looks after),
// matmul_bound.wgsl, the layout of tiles.
const SLOTS: u32 = SHARE * 64u;

var<workgroup> marks: array<u32, SLOTS>;
var<workgroup> digits: array<i64, 1280>; // [digit][lane]
var<workgroup> wholes: array<i64, 64>;
var<workgroup> seen: array<u32, 64>;

var<workgroup> sums: array<vec2<f64>, 64>;

// s.x + y, and s.y with what that rounding lost.
fn plus(s: vec2<f64>, y: f64) -> vec2<f64> {
	let t = s.x + y;
	let z = t - s.x;
	return vec2<f64>(t, s.y + ((s.x - (t - z)) + (y - z)));
}

fn twice(at: vec2<u32>, k: u32, s: vec2<f64>) -> vec2<f64> {
	let i = min(k, params.k - 1u);
	let y = f64(bitcast<f32>(a_bits(at.x + i * params.a_column))) * f64(bitcast<f32>(b_bits(at.y + i * params.b_row)));
	return plus(s, select(0.0lf, y, k < params.k));
}

// The lane's part of a sum and of what its roundings lost.
fn closer(slot: u32, lane: u32) -> vec2<f64> {
	let e = element_of(slot);
	let at = place((e.x * params.m + e.y) * params.n + e.z);
	var s = vec2<f64>();
	for (var i = 0u; i < steps; i++) {
		let k = i * 256u + lane;
		if (k >= params.k) {
			break;
		}
		s = twice(at, k, s);
		s = twice(at, k + 64u, s);
		s = twice(at, k + 128u, s);
		s = twice(at, k + 192u, s);
	}
	return s;
}

// What the parts give: sums of no more than the number of roundings, squared, times 2^-106 times the sum of all magnitudes are lost.
fn together(slot: u32) -> u32 {
	let e = element_of(slot);
	var s = vec2<f64>();
	for (var i = 0u; i < 64u; i++) {
		s = plus(s, sums[i].x);
		s.y += sums[i].y;
	}
	let x = s.x + s.y;
	let most = norm_a(e.x, e.y).x * norm_b(e.x, e.z).x * 0x1.00001p0lf;
	let n = f64(params.k) + 512.0lf;
	return within(x, n * n * most * 0x1p-104lf + abs(x) * 0x1p-51lf, most);
}

fn terms(slot: u32, lane: u32) {
	let e = element_of(slot);
	let at = place((e.x * params.m + e.y) * params.n + e.z);
	sum_clear();
	for (var i = 0u; i < steps; i++) {
		let k = i * 64u + lane;
		if (k >= params.k) {
			break;
		}
		sum_product(a_bits(at.x + k * params.a_column), b_bits(at.y + k * params.b_row));
	}
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let base = (group.y * 65535u + group.x) * SLOTS;
	var fresh: array<u32, SHARE>;
	var mine = 0u;
	for (var i = 0u; i < SHARE; i++) {
		let mark = u32(temp[base + i * 64u + lane] == MARK);
		marks[i * 64u + lane] = mark;
		mine |= mark;
	}
	seen[lane] = mine;
	workgroupBarrier();
	for (var i = 0u; i < 64u; i++) {
		mine |= seen[i];
	}
	workgroupBarrier();
	seen[lane] = mine;
	if (workgroupUniformLoad(&seen[0]) == 0u) {
		return;
	}
	for (var s = 0u; s < SLOTS; s++) {
		if (workgroupUniformLoad(&marks[s]) != 0u) {
			sums[lane] = closer(base + s, lane);
			workgroupBarrier();
			var bits = together(base + s);
			seen[lane] = bits;
			if (workgroupUniformLoad(&seen[0]) == MARK) {
				terms(base + s, lane);
				for (var d = 0u; d < DIGITS; d++) {
					digits[d * 64u + lane] = total[d];
				}
				seen[lane] = saw;
				workgroupBarrier();
				var whole = 0li;
				for (var i = 0u; i < 64u; i++) {
					whole += digits[min(lane, DIGITS - 1u) * 64u + i];
					saw |= seen[i];
				}
				wholes[lane] = whole;
				workgroupBarrier();
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
	for (var i = 0u; i < SHARE; i++) {
		if (marks[i * 64u + lane] != 0u) {
			temp[base + i * 64u + lane] = fresh[i];
		}
	}
}
