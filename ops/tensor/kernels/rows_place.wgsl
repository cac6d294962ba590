// Rows of elements that lie side by side, of QUADS_MOST quads (four elements) or fewer.
struct Rows {
	@size(4) count: u32,
	@size(4) n: u32, // elements of a row
	@size(4) quads: u32,
	@size(4) depth: u32, // the most additions on the way of a term
}

@group(0) @binding(0) var<uniform> params: Rows;

// No more than QUADS_MOST, so that it is proven that rows do not meet.
fn row_quads() -> u32 {
	return min(params.quads, QUADS_MOST);
}
