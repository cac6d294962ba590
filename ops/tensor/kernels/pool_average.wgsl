// The mean of a window. v[0]: places, taps, elements of a channel of x, and whether all taps are counted.
const ONE: u32 = 0x3f800000u;

fn product(i: u32) -> T {
	let first = (i / params.v[0].x) * params.v[0].z;
	var n = 0u;
	sum_clear();
	for (var t = 0u; t < steps; t++) {
		if (t >= params.v[0].y) {
			break;
		}
		let at = window_at(i % params.v[0].x, t);
		if (at != NOWHERE) {
			sum_product(x_bits(first + at), ONE);
			n++;
		}
	}
	divisor = max(select(n, params.v[0].y, params.v[0].w != 0u), 1u);
	if (n == 0u) {
		saw = SAW_NAN;
	}
	return sum_round();
}
