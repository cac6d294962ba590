// A layer of a chain: r30 = W x * scale + x, where x is the inbox (r0 of instance 0), W this instance's window of the heap, scale
// what the regulator wrote for it.
struct Params {
	layer_idx: u32, n_embd: u32, width: u32, instances: u32,
	window_low: u32, window_high: u32, bytes_low: u32, bytes_high: u32,
}
override n: u32 = 64u;
override width: u32 = 128u;
@group(0) @binding(0) var<storage, read_write> registers: array<f32>;
@group(0) @binding(2) var<storage, read> heap: array<f32>;
@group(0) @binding(4) var<storage, read> control: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> p: Params;

// Two registers and no computed one, so that nobody can be seen to race with the outbox.
fn came(k: u32) -> f32 {
	if (p.layer_idx == 0u) {
		return registers[k];
	}
	return registers[31u * width + k];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < n) {
		var acc = 0.0;
		for (var k = 0u; k < n; k++) {
			acc = fma(heap[id.x * n + k], came(k), acc);
		}
		registers[30u * width + id.x] = acc * control[p.layer_idx].x + came(id.x);
	}
}
