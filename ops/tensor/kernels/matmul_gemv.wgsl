// Products of few rows with a transposed b on a GPU, in one dispatch: SPLIT lanes share a column's terms, the workgroup judges its sums and settles those that are in doubt.
// In front: the numbers of add_head (matmul_gemv.c), `nearest`, within.wgsl, matmul_settle.wgsl; behind: part_sum, whole_sum, part_bound and whole_bound, which add up what lies in four arrays.
const ALL_PAIRS: u32 = GROUPS * PAIRS;

var<workgroup> parts: array<f64, LANES * PAIRS>; // [value][lane]
var<workgroup> part_bounds: array<f32, LANES * PAIRS>;
var<workgroup> few: array<f64, ALL_PAIRS * FEW>; // [group][value][part]
var<workgroup> few_bounds: array<f32, ALL_PAIRS * FEW>;
var<workgroup> any_marked: atomic<u32>;
var<workgroup> bounds: array<f32, ELEMENTS>; // of results, as they lie
var<private> bound: f64; // of the element that is settled

// The sums of PAIRS values over the lanes of each group, but for FEW parts of each. All lanes arrive.
fn join(lane: u32) {
	workgroupBarrier();
	if (lane < ALL_PAIRS * FEW) {
		let at = (lane / FEW % PAIRS) * LANES + lane / (PAIRS * FEW) * SPLIT + lane % FEW;
		few[lane] = part_sum(at);
		few_bounds[lane] = part_bound(at);
	}
	workgroupBarrier();
}

// The magnitudes of all terms together: what is added up in f32 is less by no more than its roundings and what is no f32 any more.
fn magnitudes(sum: f32) -> f64 {
	return f64(sum) * (1.0lf + f64(ROUNDINGS) * 0x1p-23lf) + f64(K) * LOST;
}

// What a sum says (SEMANTICS.md 4.4): a term goes through DEPTH additions.
fn judged(x: f64, most: f64) -> u32 {
	return within(x, f64(DEPTH) * most * 0x1p-53lf * 0x1.00001p0lf + abs(x) * 0x1p-52lf, most);
}

// Values v on of each group of lanes, of all of its columns and rows.
fn decide(lane: u32, first: u32, v: u32) {
	if (lane < ALL_PAIRS) {
		let sum = whole_bound(lane * FEW);
		let bits = judged(whole_sum(lane * FEW) * SCALE, magnitudes(sum));
		let value = v + lane % PAIRS;
		let is_one = first + lane / PAIRS * EACH + value / ROWS < N && value % ROWS < M;
		results[v * GROUPS + lane] = select(0u, bits, is_one);
		bounds[v * GROUPS + lane] = sum;
		if (is_one && bits == MARK) {
			atomicOr(&any_marked, 1u);
		}
	}
}

// As matmul_settle.wgsl asks for them.
fn norm_a(z: u32, row: u32) -> vec2<f64> {
	return vec2<f64>(bound, 0.0lf);
}

fn norm_b(z: u32, column: u32) -> vec2<f64> {
	return vec2<f64>(1.0lf, 0.0lf);
}

// Where the result of a column and row of the workgroup is: a group's values lie PAIRS by PAIRS.
fn slot_of(column: u32, row: u32) -> u32 {
	let v = column % EACH * ROWS + row;
	return v / PAIRS * ALL_PAIRS + column / EACH * PAIRS + v % PAIRS;
}
