// PoCL 3.1 with its default work-group method made n + 1 turns of this loop wherever n is 7 above a multiple of 8.
//! dispatch 2,1,1 inputs 0
//! dispatch 2,1,1 inputs 1
//! dispatch 2,1,1 inputs 2
//! dispatch 2,1,1 inputs 3
//! dispatch 2,1,1 inputs 4
//! dispatch 2,1,1 inputs 5
//! dispatch 2,1,1 inputs 6
//! dispatch 2,1,1 inputs 7
//! binding 0:0 bytes 16
//! binding 0:1 bytes 512
//! binding 0:2 bytes 6144
//# max dispatch = 65535,1,1
const WG = 64u;

struct Params {
	n: u32,
	declared: u32, z: u32,
	depth: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> limits: array<u32>;
@group(0) @binding(2) var<storage, read_write> turns: array<array<u32, 12>>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let limit = limits[gid.x];
	var t = array<u32, 12>();
	for (var i = 0u; i < min(params.n, 64u); i++) {
		t[2]++;
	}
	turns[gid.x] = t;
}
