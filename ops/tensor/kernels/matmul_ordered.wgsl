// Products one after the other, k ascending; `step` and CHUNK stand in front of this text. Chunks are cut at multiples of CHUNK,
// and their sums added from left to right onto the first.
fn product(element: u32) -> u32 {
	let at = place(element);
	var sum = 0.0f;
	var acc = 0.0f;
	for (var i = 0u; i < steps; i++) {
		if (i >= params.k) {
			break;
		}
		acc = step(bitcast<f32>(a_bits(at.x + i * params.a_column)), bitcast<f32>(b_bits(at.y + i * params.b_row)), acc);
		if (i % CHUNK == CHUNK - 1u || i == params.k - 1u) {
			sum = select(sum + acc, acc, i < CHUNK);
			acc = 0.0f;
		}
	}
	return bitcast<u32>(sum);
}
