// A run of the terms of a product of floats, from left to right, each step rounded to f32. In front of this text stand `before`, the
// product of what lies in front of the run, and `result`, the bits that are written.
@group(0) @binding(2) var<storage, read_write> y: array<u32>;
@group(0) @binding(3) var<uniform> span: vec4<u32>; // where the run begins, its terms

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < params.count && i < arrayLength(&y)) {
		let first = first_of(i);
		var product = before(i);
		for (var k = 0u; k < steps; k++) {
			if (k >= span.y) {
				break;
			}
			product = product * bitcast<f32>(x_bits(first + term_at(span.x + k)));
		}
		y[i] = result(product);
	}
}
