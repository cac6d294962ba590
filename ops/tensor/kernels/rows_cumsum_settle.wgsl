// Rows that are marked, once more by exact sums: 64 lanes take `steps` neighbouring quads each, whose digits are put in front of each other. In front:
// exact_sum.wgsl, sum_window.wgsl, and what rows_cumsum.wgsl has.
override steps: u32;

var<workgroup> digits: array<array<u32, 64>, 21>;
var<workgroup> fronts: array<array<u64, 64>, 21>;
var<workgroup> flag: u32;

// The sum so far, rounded; it goes on.
fn rounded() -> u32 {
	var kept: array<i64, 20>;
	for (var i = 0u; i < DIGITS; i++) {
		kept[i] = total[i];
	}
	let bits = sum_round();
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = kept[i];
	}
	return bits;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let row = wid.y * 65535u + wid.x;
	let quads = row_quads();
	let first = row * quads;
	if (lane == 0u) {
		flag = select(0u, marks[row], row < params.count);
	}
	if (workgroupUniformLoad(&flag) == 0u) {
		return;
	}
	sum_clear();
	for (var j = 0u; j < steps; j++) {
		let q = lane * steps + j;
		if (q >= quads) {
			break;
		}
		let bits = quad_of(first, q);
		for (var c = 0u; c < 4u; c++) {
			sum_term(bits[c]);
		}
	}
	sum_flush();
	sum_carry();
	for (var digit = 0u; digit < DIGITS; digit++) {
		digits[digit][lane] = u32(total[digit]);
	}
	digits[20][lane] = saw;
	workgroupBarrier();
	if (lane < 21u) {
		var run = 0lu;
		for (var k = 0u; k < 64u; k++) {
			let digit = u64(digits[lane][k]);
			fronts[lane][k] = run;
			run = select(run + digit, run | digit, lane == 20u);
		}
	}
	workgroupBarrier();
	for (var digit = 0u; digit < DIGITS; digit++) {
		total[digit] = i64(fronts[digit][lane]);
	}
	saw = u32(fronts[20][lane]);
	for (var j = 0u; j < steps; j++) {
		let q = lane * steps + j;
		if (q >= quads) {
			break;
		}
		let bits = quad_of(first, q);
		var out = vec4<u32>();
		for (var c = 0u; c < 4u; c++) {
			if (!EXCLUSIVE) {
				sum_term(bits[c]);
				sum_flush();
			}
			out[c] = rounded();
			if (EXCLUSIVE) {
				sum_term(bits[c]);
				sum_flush();
			}
		}
		y[first + turned(q, quads)] = pack4(turned4(out));
	}
}
