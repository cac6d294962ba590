// What attention_scores_few.wgsl shares within a workgroup: SHARES lanes share a key and read its elements side by side, AT_ONCE of them asked for before the first is used, so that a single token waits
// for memory a few times and not once an element. D: no less than d, a power of two from 64 on. In front: what attention_scores.wgsl has there.
const LANES: u32 = 256u;
const SHARES: u32 = 8u;
const KEYS: u32 = 32u;
const AT_ONCE: u32 = 8u;
const VALUES: u32 = LINES + 1u; // of a key: its square, and a product with each line

var<workgroup> queries: array<f64, LINES * D>;
var<workgroup> squares: array<f64, LANES>;
var<workgroup> norms: array<f64, LINES>;
var<workgroup> parts: array<f64, LANES * 4u>; // [value][lane]
var<workgroup> wholes: array<f64, KEYS * VALUES>;
var<workgroup> places: array<u32, KEYS>;
var<workgroup> wanted: u32;

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
