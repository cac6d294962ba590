//# max dispatch = 65535,65535,1
// Contributions gathered along the sorted in-edges: an invocation owns `run` chunks in a row and writes, for each,
// the sum from its first chunk up to that one, and the sum of all of them.
struct Params {
	@size(4) chunks: u32,
}

override run: u32 = 64u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> chunks: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> contributions: array<u64>;
@group(0) @binding(3) var<storage, read_write> prefixes: array<u64>;
@group(0) @binding(4) var<storage, read_write> sums: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * run;
	if (first < params.chunks) {
		var sum = u64(0u);
		for (var i = 0u; i < run; i++) {
			if (first + i < params.chunks) {
				let four = chunks[first + i];
				sum += contributions[four.x] + contributions[four.y] + contributions[four.z] +
				       contributions[four.w];
				prefixes[first + i] = sum;
			}
		}
		sums[lane] = sum;
	}
}
