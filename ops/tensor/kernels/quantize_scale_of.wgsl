// Which scale is of element i. In front: RANK. Axes the last first: extent, elements that share a scale, scales.
struct Params {
	@size(16) count: u32,
	@align(16) axes: array<vec4<u32>, 8>,
}
@group(0) @binding(0) var<uniform> params: Params;
fn scale_of(i: u32) -> u32 {
	var rest = i;
	var at = 0u;
	var step = 1u;
	for (var d = 0u; d < RANK; d++) {
		let axis = params.axes[d];
		at += rest % axis.x / axis.y * step;
		rest /= axis.x;
		step *= axis.z;
	}
	return at;
}
