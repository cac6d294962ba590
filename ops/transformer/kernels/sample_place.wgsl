// What sample.wgsl is bound to. In front: LANES.
override steps: u32; // tokens of a lane, by AHEAD

struct Sizes {
	@size(4) rows: u32,
	@size(12) tokens: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<u32>;
@group(0) @binding(3) var<storage, read> greatest: array<f32>;
@group(0) @binding(4) var<storage, read> greedy: array<u32>;
@group(0) @binding(5) var<storage, read> temperature: array<f32>;
@group(0) @binding(6) var<storage, read> top_k: array<u32>;
@group(0) @binding(7) var<storage, read> top_p: array<f32>;
@group(0) @binding(8) var<storage, read> min_p: array<f32>;
@group(0) @binding(9) var<storage, read> key: array<u32>;
@group(0) @binding(10) var<storage, read> position: array<u32>;
@group(0) @binding(11) var<storage, read_write> token: array<u32>;

const AHEAD: u32 = 8u; // loads under way
const EQUALS: u32 = 32u; // the pass after a search: how many there are at the threshold
const NUMBER_BIT: u32 = 12u; // of the last digit, above what weights can reach: how many there are

