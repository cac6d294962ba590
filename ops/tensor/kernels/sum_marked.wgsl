// A round of exact sums (sum_main.wgsl) of those results alone that are marked; items of the others stay what they are. Workgroups behind the
// last marked one are not needed (marks_groups.wgsl). In front: the dollar, what is done with an item that is not, MARK, `put`, which writes the sum of an item, and `marks`.
var<workgroup> marked: array<u32, 64>;
var<workgroup> wanted: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let first_item = (wid.y * 65535u + wid.x) * ROWS;
	let item = first_item + lid % ROWS;
	let run = item / params.count;
	let mine = run < params.runs && marks[item % params.count] == MARK;
	marked[lid] = u32(mine);
	workgroupBarrier();
	var any = 0u;
	for (var k = 0u; k < ROWS; k++) {
		any |= marked[k];
	}
	wanted[lid] = any;
	if (workgroupUniformLoad(&wanted[0]) != 0u) {
		sum_clear();
		if (mine) {
			accumulate(item % params.count, run * (64u / ROWS) + lid / ROWS);
		}
		sum_join(lid);
	}
	if (lid < ROWS) {
		if (first_item + lid < arrayLength(&y)) {
			if (mine) {
				put(first_item + lid);
			}$
		}
	}
}
