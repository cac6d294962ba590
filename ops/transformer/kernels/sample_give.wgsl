// The token of each row, as the first part of it says after the last turn of sample_split.wgsl. In front: PARTS.
struct Sizes {
	@size(4) rows: u32,
	@size(12) tokens: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read> greatest: array<f32>;
@group(0) @binding(3) var<storage, read> greedy: array<u32>;
@group(0) @binding(4) var<storage, read> temperature: array<f32>;
@group(0) @binding(5) var<storage, read_write> token: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let row = gid.y * 4194240u + gid.x;
	if (row < sizes.rows) {
		let t = temperature[row];
		let drawn = t > 0.0f && bitcast<u32>(t) < 0x7f800000u && greatest[row] >= -0x1.fffffep127f;
		token[row] = select(greedy[row], state[row * PARTS * 32u + 7u], drawn);
	}
}
