//# max dispatch = 65535,65535,1
// Source and weight of each edge in the order of the targets.
struct Params {
	@size(4) edges: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> numbers: array<u32>;
@group(0) @binding(2) var<storage, read> edges: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> weights: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> links: array<vec2<u32>>; // source, weight

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	if (lane < params.edges) {
		let number = numbers[lane];
		links[lane] = vec2<u32>(edges[number].x, weights[number].x);
	}
}
