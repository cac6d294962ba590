// One thing of type A of all terms of a run, as reduce_tree.wgsl, of lanes that have many reads under way. In front: `lane_of`, what a lane finds of
// its terms, `none`, `join`, and `give`, what is written; the dollar stands for that of a lane.
var<workgroup> ping: array<A, 64>;
var<workgroup> pong: array<A, 32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let base = (wid.y * 65535u + wid.x) * ROWS;
	let item = base + lid % ROWS;
	let run = item / params.count;
	var acc = none();
	if (run < params.runs) {
		acc = lane_of(first_of(item % params.count), run * (64u / ROWS) + lid / ROWS);
	}
	ping[lid] = acc;
	workgroupBarrier();
	for (var half = 32u; half >= ROWS; half >>= 1u) {
		if (lid < half) {
			pong[lid] = join(ping[lid], ping[lid + half]);
		}
		workgroupBarrier();
		if (lid < half) {
			ping[lid] = pong[lid];
		}
		workgroupBarrier();
	}
	if (lid < ROWS) {
		if (base + lid < arrayLength(&y)) {
			y[base + lid] = $;
		}
	}
}
