// One thing of type A of all terms of a run, by an operation that does not mind the order. In front of this text stand `take`, a term as
// A from where it lies and its number, `none`, which changes nothing, `join`, and `give`, what is written; the dollar stands for that of a lane.
var<workgroup> ping: array<A, 64>;
var<workgroup> pong: array<A, 32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let base = (wid.y * 65535u + wid.x) * ROWS;
	let item = base + lid % ROWS;
	let run = item / params.count;
	var acc = none();
	if (run < params.runs) {
		let first = first_of(item % params.count);
		let start = run * (64u / ROWS) + lid / ROWS;
		for (var i = 0u; i < steps; i++) {
			let term = start + i * params.lanes;
			if (term >= params.terms) {
				break;
			}
			acc = join(acc, take(first + term_at(term), term));
		}
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
