// One lane's terms of a round of tensor.sum64, one workgroup 64 lanes beside each other. In front: reduce_place.wgsl, exact64.wgsl, `take` and `put`; the dollar:
// nothing, or that a result is wanted.
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lid: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let item = (wid.y * 65535u + wid.x) * ROWS + lid;
	let run = item / params.count;
	if (run < params.runs$) {
		let first = first_of(item % params.count);
		sum_clear();
		for (var i = 0u; i < steps; i++) {
			let term = run + i * params.lanes;
			if (term >= params.terms) {
				break;
			}
			take(first + term_at(term));
		}
		if (item < arrayLength(&y)) {
			put(item);
		}
	}
}
