//# max dispatch = 65535,1,1
// How many steps of the Collatz map (x/2, or 3x + 1 modulo 2^32) lead from each start to 1, at most 512.
@group(0) @binding(0) var<storage, read> starts: array<u32>;
@group(0) @binding(1) var<storage, read_write> steps: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	if (gid.x < arrayLength(&starts)) {
		var x = starts[gid.x];
		var n = 0u;
		for (var i = 0u; i < 512u; i++) {
			if (x <= 1u) {
				break;
			}
			x = select(x >> 1u, 3u * x + 1u, (x & 1u) == 1u);
			n++;
		}
		steps[gid.x] = n;
	}
}
