// Elements of y in their order, and the rows that they belong to: x is outer times n times inner, a row being what lies along n.
// In front of this text stands SIDE_BY_SIDE: `inner` is 1.
struct Map {
	@size(4) count: u32, // elements
	@size(4) block: u32, // n * inner
	@size(4) inner: u32,
	@size(4) rest: u32, // elements of a channel
	@size(16) channels: u32,
}

@group(0) @binding(0) var<uniform> params: Map;

fn channel_of(i: u32) -> u32 {
	return (i / params.rest) % params.channels;
}

fn row_of(i: u32) -> u32 {
	if (SIDE_BY_SIDE) {
		return i / params.block;
	}
	return (i / params.block) * params.inner + i % params.inner;
}
