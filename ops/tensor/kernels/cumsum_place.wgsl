// Levels of prefix sums along an axis: the elements, the sums of their parts of 32, those of parts of these, and so on. Rows of a level have n
// elements, `inner` apart; those of sums lie side by side.
struct Params {
	@size(4) count: u32, // items of this dispatch
	@size(4) n: u32,
	@size(4) parts: u32,
	@size(4) inner: u32,
	@size(4) reverse: u32,
	@size(4) exclusive: u32,
	@size(8) has_offsets: u32,
}

@group(0) @binding(0) var<uniform> params: Params;

fn place(row: u32, t: u32) -> u32 {
	let turned = select(t, params.n - 1u - t, params.reverse == 1u);
	return (row / params.inner * params.n + turned) * params.inner + row % params.inner;
}
