// r1 = W r0, with W in the window of the heap, row by row; each sum from +0, left to right, fused.
override columns: u32 = 64u;
override rows: u32 = 64u;
override width: u32 = 64u;
@group(0) @binding(0) var<storage, read_write> registers: array<f32>;
@group(0) @binding(2) var<storage, read> heap: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < rows) {
		var acc = 0.0;
		for (var k = 0u; k < columns; k++) {
			acc = fma(heap[id.x * columns + k], registers[k], acc);
		}
		registers[width + id.x] = acc;
	}
}
