// The exact variance of a result from the digits of its sum and of the sum of its squares, rounded once; and its exact mean. In front of this
// text stand exact_sum.wgsl and a sum_scale that divides by `first_divisor` and `second_divisor`, where they are not 0.
struct Moments {
	@size(4) n: u32,
	@size(4) ddof: u32,
	@size(4) eps: u32, // bits of an f32
	@size(4) count: u32,
}

@group(0) @binding(0) var<uniform> moments: Moments;
@group(0) @binding(1) var<storage, read> sums: array<array<u32, 21>>;
@group(0) @binding(2) var<storage, read> squares: array<array<u32, 21>>;

var<private> line: array<u32, 10>;

fn load_sum(item: u32) {
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = i64(sums[item][i]);
	}
	saw = sums[item][20];
}

fn mean_of(item: u32) -> u32 {
	load_sum(item);
	first_divisor = moments.n;
	second_divisor = 1u;
	if (moments.n == 0u) {
		saw = SAW_NAN;
	}
	return sum_round();
}

// n * sum(x * x) - sum(x)^2 in units of 2^-298; sums are multiples of 2^-149.
fn variance_of(item: u32) -> u32 {
	load_sum(item);
	sum_magnitude();
	for (var i = 0u; i < 10u; i++) {
		line[i] = u32(total[i + 4u] >> 21u) | u32((total[i + 5u] << 11u) & LOW);
	}
	for (var i = 0u; i < DIGITS; i++) {
		total[i] = 0li;
	}
	for (var i = 0u; i < DIGITS; i++) {
		let part = u64(squares[item][i]) * u64(moments.n);
		total[i] += i64(part & 0xfffffffflu);
		total[i + 1u] += i64(part >> 32u);
	}
	for (var i = 0u; i < 10u; i++) {
		for (var k = 0u; k < 10u; k++) {
			let part = u64(line[i]) * u64(line[k]);
			total[i + k] -= i64(part & 0xfffffffflu);
			total[i + k + 1u] -= i64(part >> 32u);
		}
	}
	if (saw != 0u || moments.n <= moments.ddof) {
		saw = SAW_NAN;
	}
	first_divisor = moments.n;
	second_divisor = max(moments.n, moments.ddof + 1u) - moments.ddof;
	return sum_round();
}
