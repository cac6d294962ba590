// The result out of its tiles, elements that were marked settled: all lanes of a workgroup share the terms of one. First each rounding of an f64 sum is kept and added up beside it;
// what is in doubt still, by exact integer sums, whose digits are added in workgroup memory. In front: exact_sum.wgsl, SHARE (elements an invocation looks after), PER (elements
// a word of y), matmul_bound.wgsl, norms, the layout of tiles, `factors_of` (where an element's terms begin), `terms_of` (how many there are), `term_of` (one, as the bits of two factors).
const ELEMENTS: u32 = SHARE * 64u;
const WORDS: u32 = ELEMENTS / PER;

var<workgroup> results: array<u32, ELEMENTS>;
var<workgroup> digits: array<i64, 640>; // [digit][lane], of half of them
var<workgroup> wholes: array<i64, DIGITS>;
var<workgroup> seen: array<u32, 64>;

var<workgroup> sums: array<vec2<f64>, 64>;

// s.x + y, and s.y with what that rounding lost.
fn plus(s: vec2<f64>, y: f64) -> vec2<f64> {
	let t = s.x + y;
	let z = t - s.x;
	return vec2<f64>(t, s.y + ((s.x - (t - z)) + (y - z)));
}

// Batch, row, column.
fn element(i: u32) -> vec3<u32> {
	let rest = i / params.n;
	return vec3<u32>(rest / params.m, rest % params.m, i % params.n);
}

fn twice(at: vec2<u32>, k: u32, s: vec2<f64>) -> vec2<f64> {
	let term = bitcast<vec2<f32>>(term_of(at, min(k, terms_of() - 1u)));
	return plus(s, select(0.0lf, f64(term.x) * f64(term.y), k < terms_of()));
}

// The lane's part of a sum and of what its roundings lost.
fn closer(e: vec3<u32>, lane: u32) -> vec2<f64> {
	let at = factors_of(e);
	var s = vec2<f64>();
	for (var i = 0u; i < steps; i++) {
		let k = i * 256u + lane;
		if (k >= terms_of()) {
			break;
		}
		s = twice(at, k, s);
		s = twice(at, k + 64u, s);
		s = twice(at, k + 128u, s);
		s = twice(at, k + 192u, s);
	}
	return s;
}

// What the parts give: sums of no more than the number of roundings, squared, times 2^-106 times the sum of all magnitudes are lost.
fn together(e: vec3<u32>) -> u32 {
	var s = vec2<f64>();
	for (var i = 0u; i < 64u; i++) {
		s = plus(s, sums[i].x);
		s.y += sums[i].y;
	}
	return said_of(e, s);
}

fn said_of(e: vec3<u32>, s: vec2<f64>) -> u32 {
	let x = s.x + s.y;
	let most = norm_a(e.x, e.y).x * norm_b(e.x, e.z).x * 0x1.00001p0lf;
	let n = f64(terms_of()) + 512.0lf;
	return within(x, n * n * most * 0x1p-104lf + abs(x) * 0x1p-51lf, most);
}

fn terms(e: vec3<u32>, lane: u32) {
	let at = factors_of(e);
	sum_clear();
	for (var i = 0u; i < steps; i++) {
		let k = i * 64u + lane;
		if (k >= terms_of()) {
			break;
		}
		let term = term_of(at, k);
		sum_product(term.x, term.y);
	}
}
