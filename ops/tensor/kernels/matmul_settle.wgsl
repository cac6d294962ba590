// Elements that were marked, settled by exact integer sums: all lanes of a workgroup share the terms of one, and their digits are added in
// workgroup memory. In front: exact_sum.wgsl, SHARE (slots an invocation looks after), MARK, the layout of tiles.
const SLOTS: u32 = SHARE * 64u;

var<workgroup> marks: array<u32, SLOTS>;
var<workgroup> digits: array<i64, 1280>; // [digit][lane]
var<workgroup> wholes: array<i64, 64>;
var<workgroup> seen: array<u32, 64>;

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
			let bits = sum_round();
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
