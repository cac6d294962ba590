//# max dispatch = 65535,65535,1
// The weight of all out-edges of each node, and the first node whose total does not fit in 32 bits.
struct Params {
	@size(4) nodes: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> byte_sums: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> totals: array<u32>;
@group(0) @binding(3) var<storage, read_write> first: array<atomic<u32>>; // edge, node

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let node = gid.y * 4194240u + gid.x;
	if (node < params.nodes) {
		let sums = byte_sums[node];
		let total = u64(sums.x) + (u64(sums.y) << 8u) + (u64(sums.z) << 16u) + (u64(sums.w) << 24u);
		totals[node] = u32(total & 0xfffffffflu);
		if ((total >> 32u) != 0lu) {
			atomicMin(&first[1], node);
		}
	}
}
