// A grey image of 64 x 64 bytes-as-words in r0: a box blur of 3 x 3 (entry blur, into r1), then gradients (entry edges, into r2), then a
// threshold that is the uniform block's ninth word (entry threshold, into r30). Integers, so that nothing is rounded.
struct Params {
	layer_idx: u32, n_embd: u32, width: u32, instances: u32,
	window_low: u32, window_high: u32, bytes_low: u32, bytes_high: u32,
	least: u32,
}
const SIDE = 64u;
const WIDTH = 8192u;
@group(0) @binding(0) var<storage, read_write> registers: array<u32>;
@group(1) @binding(0) var<uniform> p: Params;

fn pixel(number: u32, x: i32, y: i32) -> i32 {
	let cx = u32(clamp(x, 0, 63));
	let cy = u32(clamp(y, 0, 63));
	return i32(registers[number * WIDTH + cy * SIDE + cx]);
}

@compute @workgroup_size(64)
fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < 4096u) {
		let x = i32(id.x % SIDE);
		let y = i32(id.x / SIDE);
		var sum = 0;
		for (var i = 0; i < 9; i++) {
			sum += pixel(0u, x + i % 3 - 1, y + i / 3 - 1);
		}
		registers[WIDTH + id.x] = u32(sum / 9);
	}
}

@compute @workgroup_size(64)
fn edges(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < 4096u) {
		let x = i32(id.x % SIDE);
		let y = i32(id.x / SIDE);
		let gx = pixel(1u, x + 1, y) - pixel(1u, x - 1, y);
		let gy = pixel(1u, x, y + 1) - pixel(1u, x, y - 1);
		registers[2u * WIDTH + id.x] = u32(abs(gx) + abs(gy));
	}
}

@compute @workgroup_size(64)
fn threshold(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < 4096u) {
		registers[30u * WIDTH + id.x] = select(0u, 255u, registers[2u * WIDTH + id.x] >= p.least);
	}
}
