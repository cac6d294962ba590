// 64-bit quotients of divisors of every length (README.md).
@group(0) @binding(0) var<storage, read> a: array<u64>;
@group(1) @binding(0) var<storage, read_write> r: array<u64>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let at = gid.x;
	var x = a[at & 1023u] ^ (u64(at) * 0x9e3779b97f4a7c15lu);
	var s = 0lu;
	for (var i = 0u; i < 256u; i++) {
		x = x * 6364136223846793005lu + 1442695040888963407lu;
		s += x / ((x >> (i & 63u)) | 1lu);
	}
	r[at] = s;
}
