// The exact variance of a result from the digits of its sum and of the sum of its squares, rounded once; and its exact mean. In front of this
// text stand variance_place.wgsl or the like, exact_sum.wgsl and a sum_scale that divides by `first_divisor` and `second_divisor`, where they are not 0.
var<private> line: array<u32, 10>;

// n * sum(x * x) - sum(x)^2 in units of 2^-298 takes the place of the sum; sums are multiples of 2^-149.
fn squares_less(item: u32) {
	sum_magnitude();
	for (var i = 0u; i < 10u; i++) {
		line[i] = u32(total[i + 4u] >> 21u) | u32((total[i + 5u] << 11u) & LOW);
	}
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = 0li;
	}
	for (var i = 0u; i < DIGITS; i++) {
		let part = u64(squares_of[item][i]) * u64(moments.n);
		total[i] += i64(part & 0xfffffffflu);
		total[i + 1u] += i64(part >> 32u);
	}
	// All pairs in one loop: two, one inside the other, have drivers write out a hundred products, and take half a minute over them.
	for (var pair = 0u; pair < 100u; pair++) {
		let i = pair / 10u;
		let k = pair % 10u;
		let part = u64(line[i]) * u64(line[k]);
		total[i + k] -= i64(part & 0xfffffffflu);
		total[i + k + 1u] -= i64(part >> 32u);
	}
}

// The mean, or the variance; the text of rounding, which is long, stands here once for both.
fn moment_of(item: u32, variance: bool) -> u32 {
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = i64(sums[item][i]);
	}
	saw = sums[item][20];
	first_divisor = moments.n;
	second_divisor = 1u;
	var undefined = moments.n == 0u;
	if (variance) {
		squares_less(item);
		second_divisor = max(moments.n, moments.ddof + 1u) - moments.ddof;
		undefined = saw != 0u || moments.n <= moments.ddof;
	}
	if (undefined) {
		saw = SAW_NAN;
	}
	return sum_round();
}
