// The sum of each 64 words, through workgroup memory.
override factor: u32 = 3u;
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(1) @binding(0) var<storage, read_write> sums: array<u32>;
var<workgroup> tile: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) at: u32, @builtin(workgroup_id) group: vec3<u32>) {
	let first = group.x * 64u + at;
	tile[at] = 0u;
	if (first < arrayLength(&words)) {
		tile[at] = words[first] * factor;
	}
	workgroupBarrier();
	for (var k = 0u; k < 6u; k++) {
		let half = 32u >> k;
		if (at < half) {
			tile[at] = tile[at] + tile[at + half];
		}
		workgroupBarrier();
	}
	if (at == 0u && group.x < arrayLength(&sums)) {
		sums[group.x] = tile[0];
	}
}
