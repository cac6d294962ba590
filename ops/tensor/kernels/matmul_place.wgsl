// Where the terms of an element of a matrix product lie. Strides count elements; a batch dimension along which a factor does not
// change has a stride of 0 there, one that does not exist has 1 element.
override steps: u32; // k or more, a power of two

struct Params {
	@size(4) m: u32,
	@size(4) n: u32,
	@size(4) k: u32,
	@size(4) count: u32,
	@size(4) a_row: u32,
	@size(4) a_column: u32,
	@size(4) b_row: u32,
	@size(4) b_column: u32,
	@align(16) @size(96) batch: array<vec4<u32>, 6>, // elements, stride of a, stride of b; the innermost first
}

@group(0) @binding(0) var<uniform> params: Params;

fn place(element: u32) -> vec2<u32> {
	var rest = element / params.n;
	var at = vec2<u32>((rest % params.m) * params.a_row, (element % params.n) * params.b_column);
	rest = rest / params.m;
	for (var d = 0u; d < 6u; d++) {
		let dim = params.batch[d];
		at += (rest % dim.x) * dim.yz;
		rest = rest / dim.x;
	}
	return at;
}
