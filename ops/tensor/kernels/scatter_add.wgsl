// Updates of floats that go to element i: their exact sum with the element, rounded once. An element without updates keeps its bits.
const ONE: u32 = 0x3f800000u;

fn product(i: u32) -> T {
	let first = first_of(i);
	var n = 0u;
	sum_clear();
	sum_product(x_bits(i), ONE);
	for (var j = 0u; j < steps; j++) {
		if (j >= params.v[0].y || first + j >= params.v[0].x || targets[first + j] != i) {
			break;
		}
		sum_product(updates_bits(updates_from[first + j]), ONE);
		n++;
	}
	if (n == 0u) {
		return x_raw(i);
	}
	return sum_round();
}
