// How many places each expert has: a workgroup an expert.
override steps: u32; // no less than places / 64

struct Sizes {
	@size(4) places: u32,
	@size(12) experts: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> experts: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

var<workgroup> found: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let expert = wid.y * 65535u + wid.x;
	var n = 0u;
	for (var s = 0u; s < steps; s++) {
		let i = s * 64u + lane;
		if (i >= sizes.places) {
			break;
		}
		n += u32(experts[i] == expert);
	}
	found[lane] = n;
	workgroupBarrier();
	if (lane == 0u && expert < sizes.experts) {
		var all = 0u;
		for (var k = 0u; k < 64u; k++) {
			all += found[k];
		}
		counts[expert] = all;
	}
}
