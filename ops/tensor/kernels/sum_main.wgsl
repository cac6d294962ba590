// A round of exact sums. In front of this text stand sum_lanes.wgsl and what it wants, and `put`, which writes the sum of an item.
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let first_item = (wid.y * 65535u + wid.x) * ROWS;
	let item = first_item + lid % ROWS;
	let run = item / params.count;
	sum_clear();
	if (run < params.runs) {
		accumulate(item % params.count, run * (64u / ROWS) + lid / ROWS);
	}
	sum_join(lid);
	if (lid < ROWS) {
		if (first_item + lid < arrayLength(&y)) {
			put(first_item + lid);
		}
	}
}
