// What sample.wgsl is bound to. In front: LANES.
override steps: u32; // tokens of a lane, by AHEAD

$@group(0) @binding(11) var<storage, read_write> token: array<u32>;

const AHEAD: u32 = 8u; // loads under way
const EQUALS: u32 = 32u; // the pass after a search: how many there are at the threshold
const NUMBER_BIT: u32 = 12u; // of the last digit, above what weights can reach: how many there are

