// llvmpipe (Mesa 22.3, lavapipe and rusticl): what fills up the last vector of a workgroup stays in a loop that the workgroup has left, and what
// the invocations beside it store behind it is lost (plugins/vulkan/spirv/entry.c, plugins/opencl/clc/emit.c).
//! dispatch 2,1,1 inputs 16164512257438028359
//! binding 0:0 bytes 136
//! binding 0:1 bytes 136
@group(0) @binding(0) var<storage, read_write> out0: array<u32>;
@group(0) @binding(1) var<storage, read_write> met: array<u32>;
var<workgroup> wf: array<u32, 8>;
@compute @workgroup_size(17)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) li: u32) {
	for (var k = li; k < 8u; k += 17u) {
		wf[k] = k * 7u;
	}
	workgroupBarrier();
	for (var turn = 0u; turn < 5u; turn++) {
		if (workgroupUniformLoad(&wf[(turn + 3u) % 8u]) % 3u != 0u) {
			break;
		}
		for (var k = 0u; k < 2u; k++) {
			out0[gid.x] = k;
		}
	}
	met[gid.x] = 3u;
}
