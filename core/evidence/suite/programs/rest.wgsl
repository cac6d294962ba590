// Turns that a whole workgroup leaves by what lies in its memory, a loop of each invocation's own inside, and stores behind.
override WG: u32 = 64;

@group(0) @binding(0) var<uniform> params: vec4<u32>; // x: turns
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
var<workgroup> flags: array<u32, 8>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	var s = lane;
	for (var k = lane; k < 8u; k += WG) {
		flags[k] = select(0u, 1u, k >= params.x);
	}
	workgroupBarrier();
	for (var i = 0u; i < 8u; i++) {
		if (workgroupUniformLoad(&flags[i]) != 0u) {
			break;
		}
		for (var k = 0u; k < 2u; k++) {
			s = s * 5u + k;
			results[id.x] = s;
		}
	}
	results[id.x] = s * 3u + 1u;
}
