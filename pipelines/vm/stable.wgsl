// A layer that makes its activations four times as large, and takes the scale that the regulator wrote for it: r30 = 4 x scale.
struct Params {
	layer_idx: u32, n_embd: u32, width: u32, instances: u32,
	window_low: u32, window_high: u32, bytes_low: u32, bytes_high: u32,
}
const WIDTH = 128u;
@group(0) @binding(0) var<storage, read_write> registers: array<f32>;
@group(0) @binding(4) var<storage, read> control: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < 64u) {
		var x = registers[31u * WIDTH + id.x];
		if (p.layer_idx == 0u) {
			x = registers[id.x];
		}
		registers[30u * WIDTH + id.x] = 4.0 * x * control[p.layer_idx].x;
	}
}
