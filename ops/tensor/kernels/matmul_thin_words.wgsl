// Products of few rows with a transposed b of q8_0 on a processor: eight lanes have a word of a block each, four elements. In front: ROW_PAIR, AHEAD, ROWS (rows together), COLUMNS (of a workgroup;
// with ROWS eight values, column by column), `nearest`, within.wgsl; behind: the entry point.
const LANES: u32 = 8u;

var<workgroup> parts: array<f64, LANES * LANES>; // [value][lane]

// A lane's value, summed over lanes.
fn together(v: u32) -> f64 {
	var sum = 0.0lf;
	for (var i = 0u; i < LANES; i++) {
		sum += parts[v * LANES + i];
	}
	return sum;
}

// 256 times the f16 of 16 bits, whose sign they end with: a number times 2^1008, which puts its exponent right and makes of what is subnormal there what it is. Of an infinity or a NaN it
// is some number, of 2^24 or more.
fn scale(sign: u32, bits: u32) -> f64 {
	return bitcast<f64>((u64(sign) << 48u) | (u64(bits) << 42u)) * 0x1p1016lf;
}

// No less than the norm of any of the columns, by the sum of the squares of 256 times all their scales: a block has 32 elements, none above 128 scales. No number below 2^600 where a scale
// may be an infinity or a NaN, whose square is 2^48 or more here.
fn norm_of(squares: f64) -> f64 {
	return select(sqrt(squares * 32.0lf) * 0.5lf, 0x1p700lf, squares >= 0x1p48lf);
}

// As matmul_thin.wgsl's; a term has fewer additions on its way here: those of its word, its blocks' and the lanes'. What is added up is larger: 1.5 more than an element / 256, below 2, and 1.5
// that is taken away, 7 times the half that an element can be.
fn judged(x: f64, row: f64, column: f64) -> u32 {
	let all = row * column * 0x1.00001p3lf;
	let depth = params.k / 32u + 2u * LANES + 8u;
	return within(x, f64(depth) * all * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, all);
}
