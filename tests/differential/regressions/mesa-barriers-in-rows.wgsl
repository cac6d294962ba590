// Found by --exits (seed 9310284) on 2026-11-28. In a workgroup of several rows llvmpipe (Mesa 22.3, lavapipe and rusticl) fills up the last
// vector of each row; what fills it up read zeros, took the loop with barriers for itself, and rows but the last lost what they stored behind.
//! dispatch 6,1,1 inputs 7835387586426700678
//! dispatch 6,1,1 inputs 9217475590768963776
//! binding 0:0 bytes 256
//! binding 0:2 bytes 648
@group(0) @binding(0) var<storage, read> inp: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
var<workgroup> flags: array<u32, 16>;
@compute @workgroup_size(3, 3, 3)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) li: u32) {
	let gi = wid.x * 27u + li;
	if li < 8u { flags[li] = inp[li] + li; }
	workgroupBarrier();
	let u = workgroupUniformLoad(&flags[wid.x]);
	if (u + 1u) % 4u == 1u {
		for (var t = 0u; t < 200u; t++) { workgroupBarrier(); }
	}
	out[gi] = li;
}
