// What the check found: the position, and the index there, of which 0 stands where none is out of range.
struct Params {
	@size(4) count: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> bad: array<u32>;
@group(0) @binding(3) var<storage, read_write> found: array<u64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.y * 4194240u + gid.x;
	if (i < 2u) {
		let at = bad[0];
		var value = 0lu;
		if (at < params.count) {
			value = index_told(at);
		}
		found[i] = select(value, u64(at), i == 0u);
	}
}
