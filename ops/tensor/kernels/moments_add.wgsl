// Sums of f32 in f64, with what tells how far off they are: sum, sum of magnitudes, sum of squares (where SQUARES), and the exponent's field of the
// least magnitude, which no bit of any term lies more than 23 places below. Zeros change nothing.
const NOTHING: f64 = 600.0lf; // the field where all terms are zeros

var<private> sum: f64;
var<private> magnitudes: f64;
var<private> squared: f64;
var<private> least: u32; // the bits of a magnitude, less 1: zeros come last

fn sums_clear() {
	sum = 0.0lf;
	magnitudes = 0.0lf;
	squared = 0.0lf;
	least = 0xffffffffu;
}

fn sums_add(bits: u32) {
	let v = f64(bitcast<f32>(bits));
	sum += v;
	magnitudes += abs(v);
	if (SQUARES) {
		squared += v * v;
	}
	least = min(least, (bits & 0x7fffffffu) - 1u);
}

fn sums_found() -> vec4<f64> {
	let field = f64(max((least + 1u) >> 23u, 1u));
	return vec4<f64>(sum, magnitudes, squared, select(field, NOTHING, least == 0xffffffffu));
}

fn sums_join(a: vec4<f64>, b: vec4<f64>) -> vec4<f64> {
	return vec4<f64>(a.x + b.x, a.y + b.y, a.z + b.z, select(b.w, a.w, a.w < b.w));
}
