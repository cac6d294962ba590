// An element of the products of rows with their experts' matrices: place i (a row and one of its k experts), row j of the matrix. In front: `x`, `w`, `experts`, `bias`, `y`.
struct Params {
	@size(4) count: u32,
	@size(4) m: u32,
	@size(4) n: u32,
	@size(4) k: u32,
	@size(4) experts: u32,
	@size(4) each: u32, // 1: x has a row for each of the k
	@size(4) depth: u32, // the most additions on the way of a term, where sums are f64
	@size(4) biased: u32,
}

override steps: u32;

@group(0) @binding(0) var<uniform> params: Params;

// The expert, and where its rows and x's begin.
struct Place {
	expert: u32,
	x_first: u32,
	w_first: u32,
}

fn place(element: u32) -> Place {
	let i = element / params.m;
	let expert = experts[i];
	let row = select(i / params.k, i, params.each == 1u);
	return Place(expert, row * params.n, (expert * params.m + element % params.m) * params.n);
}

// What becomes of a product's bits.
fn given(element: u32, at: Place, bits: u32) -> u32 {
	let biased = bitcast<f32>(bits) + bitcast<f32>(bias_bits(at.expert * params.m + element % params.m));
	let all = select(bits, bitcast<u32>(biased), params.biased == 1u);
	return select(0x7fc00000u, all, at.expert < params.experts);
}
