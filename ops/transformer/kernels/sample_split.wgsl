// A turn of sample.wgsl by PARTS workgroups a row: each joins what all parts of its row found in the turn before, decides what is asked next (all decide the same), and looks through its own part.
// A turn finds four bits of a threshold: exact sums and numbers of candidates in sixteen bins. In front: PARTS, SUMS (words of a workgroup's bins), wide.wgsl, sample_weight.wgsl, sample_stages.wgsl,
// philox.wgsl.
override steps: u32; // tokens of a lane

$@group(0) @binding(10) var<storage, read> state_before: array<u32>;
@group(0) @binding(11) var<storage, read> sums_before: array<u32>;
@group(0) @binding(12) var<storage, read_write> state_after: array<u32>;
@group(0) @binding(13) var<storage, read_write> sums_after: array<u32>;

const STATE: u32 = 32u; // words of a workgroup's state
const WORDS: u32 = 13u; // of a bin: halves of six digits, and how many there are

var<workgroup> totals: array<u64, SUMS>;
var<workgroup> now: array<u32, STATE>;
var<workgroup> halves: array<atomic<u32>, SUMS>;

struct State {
	begun: u32,
	stage: u32,
	step: u32, // of four bits
	x: u32, // the threshold
	n_above: u32,
	candidates: u32,
	last: u32, // the least that is kept weighs, 0 while all are
	at: u32,
	rank: u32,
	above: Wide, // what lies above the threshold weighs
	goal: Wide,
	kept: Wide, // what is kept weighs
}

var<private> s: State;

fn bin_sum(bin: u32) -> Wide {
	var sum: Wide;
	var carry = 0lu;
	for (var d = 0u; d < 6u; d++) {
		carry += totals[bin * WORDS + 2u * d] + (totals[bin * WORDS + 2u * d + 1u] << 16u);
		sum.d[d] = u32(carry & 0xfffffffflu);
		carry = carry >> 32u;
	}
	return sum;
}

fn bin_number(bin: u32) -> u32 {
	return u32(totals[bin * WORDS + WORDS - 1u]);
}

fn state_load(first: u32) {
	s.begun = state_before[first];
	s.stage = state_before[first + 1u];
	s.step = state_before[first + 2u];
	s.x = state_before[first + 3u];
	s.n_above = state_before[first + 4u];
	s.candidates = state_before[first + 5u];
	s.last = state_before[first + 6u];
	s.at = state_before[first + 7u];
	s.rank = state_before[first + 8u];
	for (var d = 0u; d < 6u; d++) {
		s.above.d[d] = state_before[first + 9u + d];
		s.goal.d[d] = state_before[first + 15u + d];
		s.kept.d[d] = state_before[first + 21u + d];
	}
}

fn state_keep() {
	now[0] = s.begun;
	now[1] = s.stage;
	now[2] = s.step;
	now[3] = s.x;
	now[4] = s.n_above;
	now[5] = s.candidates;
	now[6] = s.last;
	now[7] = s.at;
	now[8] = s.rank;
	for (var d = 0u; d < 6u; d++) {
		now[9u + d] = s.above.d[d];
		now[15u + d] = s.goal.d[d];
		now[21u + d] = s.kept.d[d];
	}
}
