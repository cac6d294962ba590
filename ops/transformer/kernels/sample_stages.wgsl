// The stages of a draw, what follows which, and how many of equals are in. In front: wide.wgsl.
const TOTAL: u32 = 0u; // the weight and number of all candidates
const TOP_K: u32 = 1u;
const TOP_P: u32 = 2u;
const MIN_P: u32 = 3u;
const DRAW: u32 = 4u;
const PLACE: u32 = 5u; // which of equals
const DONE: u32 = 6u;

var<private> number: u32; // of candidates, in the pass before

// Of `number` equals the most of which the goal, or a wanted number, is not reached.
fn short_of(above: Wide, each: Wide, goal: Wide, n_above: u32, wanted: u32) -> u32 {
	var short = 0u;
	for (var bit = 0u; bit < 18u; bit++) {
		let more = short + (0x20000u >> bit);
		let is_short = select(wide_below(wide_add(above, wide_times(each, more)), goal),
			n_above + more < wanted, wanted != 0u);
		if (more < number && is_short) {
			short = more;
		}
	}
	return short;
}

// The next stage that was asked for.
fn asked_from(stage: u32, wanted: u32, candidates: u32, p: f32, floor: f32, last: f32) -> u32 {
	var next = stage;
	if (next == TOP_K && (wanted == 0u || wanted >= candidates)) {
		next = TOP_P;
	}
	if (next == TOP_P && !(p < 1.0f)) {
		next = MIN_P;
	}
	if (next == MIN_P && !(floor > 0.0f && last < min(floor, 1.0f))) {
		next = DRAW;
	}
	return next;
}
