//# max dispatch = 65535,1,1
// One pass of many: every element takes another's place and a new value, so that a pass that begins before the one
// before it has ended, or does not see it, is found out.
override WG: u32 = 64;

struct Params {
	n: u32,
	factor: u32,
	shift: u32,
	round: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> before: array<u32>;
@group(0) @binding(2) var<storage, read_write> after: array<u32>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	if (i < params.n) {
		let source = (i * params.factor + params.shift) % params.n;
		after[i] = (before[source] ^ params.round) * 0x7feb352du + i;
	}
}
