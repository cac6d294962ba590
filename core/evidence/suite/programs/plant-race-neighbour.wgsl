// Planted: every invocation reads its neighbour's cell without a barrier.
@group(0) @binding(0) var<storage, read_write> results: array<u32>;

var<workgroup> cells: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	cells[lid] = gid.x;
	results[gid.x] = cells[(lid + 1u) % 64u];
}
