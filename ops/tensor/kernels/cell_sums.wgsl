// The sum of a gate, exact and rounded once: element j of gate g of row b is number (b * sums + g) * m + j. v[0]: m, sums, n, rows of w. APART: the
// last gate's sum is two, of x's products and of h's, each with a bias of its own, which other gates have both.
const ONE: u32 = 0x3f800000u;

fn product(i: u32) -> T {
	let m = params.v[0].x;
	let n = params.v[0].z;
	let sum = (i / m) % params.v[0].y;
	let b = i / m / params.v[0].y;
	let row = min(sum, select(3u, 2u, APART)) * m + i % m;
	let of_x = !APART || sum != 3u;
	let of_h = !APART || sum != 2u;
	sum_clear();
	for (var t = 0u; t < steps; t++) {
		if (t >= n + m) {
			break;
		}
		if (t < n) {
			if (of_x) {
				sum_product(x_bits(b * n + t), w_bits(row * n + t));
			}
		} else if (of_h) {
			sum_product(h_bits(b * m + t - n), r_bits(row * m + t - n));
		}
	}
	if (of_x) {
		sum_product(bias_bits(row), ONE);
	}
	if (APART && of_h) {
		sum_product(bias_bits(params.v[0].w + row), ONE);
	}
	return sum_round();
}
