// The greatest score of a line and the sum of its weights: a workgroup a line. In front: attention_place.wgsl, attention_weight.wgsl, extreme_key.wgsl, sum_lanes.wgsl (ROWS is 1),
// sum_window.wgsl, `look`, and `quick`, which says what the sum rounds to, or MARK.
override steps: u32; // no less than tiles and sequences

var<workgroup> keys: array<u32, 64>;
var<workgroup> said: u32;

fn greatest_together(lane: u32, mine: u32) -> u32 {
	keys[lane] = mine;
	workgroupBarrier();
	var all = 0u;
	for (var k = 0u; k < 64u; k++) {
		all = max(all, keys[k]);
	}
	return all;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let item = wid.y * 65535u + wid.x;
	look(item * 64u + lane);
	let shared_by = item / params.v[3].y;
	let r = item % params.v[3].y;
	let see = seen(line_of(shared_by, r), r);
	var most = 0u;
	for (var k = 0u; k < steps; k++) {
		let key = (see.x / TILE + k) * TILE + lane;
		if (key >= see.y) {
			break;
		}
		if (key >= see.x) {
			most = max(most, float_key(scores[score_place(shared_by, r, key)]));
		}
	}
	let key = greatest_together(lane, most);
	let greatest = select(float_of(key), 0x7fc00000u, key == 0u);
	quick(lane, shared_by, r, see, greatest);
	var s = workgroupUniformLoad(&said);
	if (s == MARK) {
		sum_clear();
		for (var k = 0u; k < steps; k++) {
			let at = (see.x / TILE + k) * TILE + lane;
			if (at >= see.y) {
				break;
			}
			if (at >= see.x) {
				sum_term(weight_of(scores[score_place(shared_by, r, at)], greatest));
			}
			if ((k & 1023u) == 1023u) {
				sum_flush();
			}
		}
		sum_flush();
		sum_join(lane);
		s = sum_round();
	}
	if (lane < 1u) {
		if (item + lane < arrayLength(&rows)) {
			rows[item + lane] = vec2<u32>(greatest, s);
		}
	}
}
