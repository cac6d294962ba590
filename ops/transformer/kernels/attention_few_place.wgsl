// What attention_scores_few.wgsl shares within a workgroup: SHARES lanes share a key and read its elements side by side, eight of them asked for before the first is used, so that a single token waits
// for memory a few times and not once an element. D: no less than d, a power of two from 64 on. In front: what attention_scores.wgsl has there.
const LANES: u32 = 256u;
const SHARES: u32 = 8u;
const KEYS: u32 = 32u;
const VALUES: u32 = LINES + 1u; // of a key: its square, and a product with each line

var<workgroup> queries: array<f64, LINES * D>;
var<workgroup> squares: array<f64, LANES>;
var<workgroup> norms: array<f64, LINES>;
var<workgroup> parts: array<f64, LANES * 4u>; // [value][lane]
var<workgroup> wholes: array<f64, KEYS * VALUES>;
var<workgroup> places: array<u32, KEYS>;
var<workgroup> wanted: u32;

// Of a key and a lane: the square, and products with lines, eight at most.
struct Sums {
	square: f64,
	a: vec4<f64>,
	b: vec4<f64>,
}

// Four elements of a key from e on, as bits; of one that is not there 0.
fn element_of(place: u32, at: u32, e: u32, d: u32) -> u32 {
	return select(0u, k_bits(at + e), e < d && place != KV_NOWHERE);
}

fn four(place: u32, at: u32, e: u32, d: u32) -> vec4<u32> {
	return vec4<u32>(element_of(place, at, e, d), element_of(place, at, e + SHARES, d), element_of(place, at, e + 2u * SHARES, d), element_of(place, at, e + 3u * SHARES, d));
}

fn product(line: u32, e: u32, x: f64, sum: f64) -> f64 {
	if (line >= LINES) {
		return sum;
	}
	return more(queries[line * D + e], x, sum);
}

fn add_squares(x: vec4<f64>, sum: f64) -> f64 {
	return more(x.w, x.w, more(x.z, x.z, more(x.y, x.y, more(x.x, x.x, sum))));
}

fn add_key(e: u32, x: f64, s: Sums) -> Sums {
	return Sums(s.square,
		vec4<f64>(product(0u, e, x, s.a.x), product(1u, e, x, s.a.y), product(2u, e, x, s.a.z), product(3u, e, x, s.a.w)),
		vec4<f64>(product(4u, e, x, s.b.x), product(5u, e, x, s.b.y), product(6u, e, x, s.b.z), product(7u, e, x, s.b.w)));
}

// All lanes arrive: the elements of a block's queries, and their norms, which are known behind the next barrier.
fn queries_load(shared_by: u32, block: u32, lane: u32) {
	let d = params.v[0].z;
	for (var i = 0u; i < (LINES * D + LANES - 1u) / LANES; i++) {
		let at = i * LANES + lane;
		let e = at % D;
		let r = block * LINES + at / D;
		if (at < LINES * D) {
			var x = 0.0lf;
			if (e < d && r < params.v[3].y) {
				x = f64(bitcast<f32>(q_bits(query_place(line_of(shared_by, r)) + e)));
			}
			queries[at] = x;
		}
	}
	workgroupBarrier();
	// 32 lanes a line.
	var own = 0.0lf;
	for (var i = 0u; i < D / 32u; i++) {
		if (lane / 32u < LINES) {
			let x = queries[lane / 32u * D + i * 32u + lane % 32u];
			own += x * x;
		}
	}
	squares[lane] = own;
	workgroupBarrier();
	if (lane < LINES) {
		var all = 0.0lf;
		for (var i = 0u; i < 32u; i++) {
			all += squares[lane * 32u + i];
		}
		norms[lane] = all;
	}
}

// Whether any line of the block sees any of the keys.
fn any_sees(shared_by: u32, block: u32, first: u32) -> bool {
	var any = false;
	for (var q = 0u; q < LINES; q++) {
		let see = seen(line_of(shared_by, block * LINES + q), block * LINES + q);
		any |= see.x < first + KEYS && see.y > first;
	}
	return any;
}
