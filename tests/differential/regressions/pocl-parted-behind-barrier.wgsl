// PoCL 3.1: invocations part behind a barrier under a condition, and all go where invocation 0 goes (plugins/opencl/clc/control.c).
//! dispatch 2,1,1 inputs 4856759173090842797
//! binding 0:0 bytes 512
//! binding 0:1 bytes 512
@group(0) @binding(0) var<storage, read> inp: array<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
var<workgroup> r: array<u32, 16>;
var<workgroup> digits: array<u32, 64>;
var<workgroup> wholes: array<u32, 8>;
var<private> total: array<u32, 8>;

fn settle(i: u32, lane: u32) {
	digits[lane] = inp[lane] * (2u * i + 3u) + i;
	workgroupBarrier();
	if (lane < 8u) {
		var s = 0u;
		for (var k = 0u; k < 64u; k++) {
			s += digits[k] * (lane + 1u + k);
		}
		wholes[lane] = s;
	}
	workgroupBarrier();
	for (var k = 0u; k < 8u; k++) {
		total[k] = wholes[k];
	}
}

fn sum() -> u32 {
	var carry = 0u;
	for (var k = 0u; k < 8u; k++) {
		let t = total[k] + carry;
		total[k] = t & 0xffffu;
		carry = t >> 16u;
	}
	var x = carry;
	for (var k = 0u; k < 8u; k++) {
		x = x * 31u + total[k];
	}
	return x;
}

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(global_invocation_id) id: vec3<u32>) {
	var bits = 0u;
	if (lane < 16u) {
		bits = inp[lane + 64u];
		r[lane] = select(0u, 1u, (inp[lane] & 3u) != 0u);
	}
	workgroupBarrier();
	for (var i = 0u; i < 16u; i++) {
		if (workgroupUniformLoad(&r[i]) == 1u) {
			settle(i, lane);
			if (lane == i) {
				bits = sum();
			}
		}
	}
	out[id.x] = bits;
}
