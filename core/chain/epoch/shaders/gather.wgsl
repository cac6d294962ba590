//# max dispatch = 65535,1,1
// Two outputs of spread.wgsl over parts of one graph become one: the same sums, their words carried over, so that any number of
// parts gives what one would.
@group(0) @binding(0) var<storage, read> first: array<u32>;
@group(0) @binding(2) var<storage, read> second: array<u32>;
@group(1) @binding(0) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let place = gid.x * 5u;
	if (gid.x < arrayLength(&sums) / 5u) {
		let low = u64(first[place]) + u64(second[place]) + ((u64(first[place + 1u]) + u64(second[place + 1u])) << 10u);
		let middle = ((u64(first[place + 2u]) + u64(second[place + 2u])) << 20u) + ((u64(first[place + 3u]) + u64(second[place + 3u])) << 30u);
		let sum = low + middle + ((u64(first[place + 4u]) + u64(second[place + 4u])) << 40u);
		sums[place] = u32(sum & 1023lu);
		sums[place + 1u] = u32((sum >> 10u) & 1023lu);
		sums[place + 2u] = u32((sum >> 20u) & 1023lu);
		sums[place + 3u] = u32((sum >> 30u) & 1023lu);
		sums[place + 4u] = u32(sum >> 40u);
	}
}
