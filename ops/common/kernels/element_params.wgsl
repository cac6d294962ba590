// A kernel of which invocation i makes element i of `count`; what the numbers are is the text's below.
struct Params {
	@size(16) count: u32,
	@align(16) @size(256) v: array<vec4<u32>, 16>,
}

@group(0) @binding(0) var<uniform> params: Params;
