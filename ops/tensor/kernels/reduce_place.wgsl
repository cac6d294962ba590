// Where the terms of a reduction along axes lie. Adjacent axes that are kept, or reduced, count as one; there are four of each at most, and
// what is not there has 1 element. In front of this text stand ROWS: workgroups take so many results each, 64 / ROWS lanes a result; and EVEN: there
// is one group of reduced axes, so that terms lie evenly apart and no index is divided for each of them.
// Lane n of the `lanes` of a result takes its terms n, n + lanes, and so on; lanes of a workgroup are neighbours. Item `run * count +
// result` of what is left is what run `run` of a result's workgroups found.
override steps: u32; // terms of a lane or more, a power of two

struct Params {
	@size(4) count: u32, // of results
	@size(4) terms: u32, // of a result
	@size(4) runs: u32,
	@size(4) lanes: u32,
	@align(16) @size(64) kept: array<vec4<u32>, 4>, // elements, stride; the innermost first
	@align(16) @size(64) reduced: array<vec4<u32>, 4>,
}

@group(0) @binding(0) var<uniform> params: Params;

fn first_of(result: u32) -> u32 {
	let a = result / params.kept[0].x;
	let b = a / params.kept[1].x;
	let c = b / params.kept[2].x;
	return (result % params.kept[0].x) * params.kept[0].y + (a % params.kept[1].x) * params.kept[1].y +
		(b % params.kept[2].x) * params.kept[2].y + c * params.kept[3].y;
}

fn term_at(term: u32) -> u32 {
	if (EVEN) {
		return term * params.reduced[0].y;
	}
	let a = term / params.reduced[0].x;
	let b = a / params.reduced[1].x;
	let c = b / params.reduced[2].x;
	return (term % params.reduced[0].x) * params.reduced[0].y + (a % params.reduced[1].x) * params.reduced[1].y +
		(b % params.reduced[2].x) * params.reduced[2].y + c * params.reduced[3].y;
}
