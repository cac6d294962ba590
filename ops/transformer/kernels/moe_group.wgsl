// Places put side by side by their experts, in order, each expert's from a whole tile on: slot s of `list` has a place's number and 1, or nothing, and `slots` of a place its slot and 1. Both are zero
// before, and where a place goes is data: so they are written by one commuting atomic, and nothing races whatever `experts` holds. A workgroup an expert. In front: TILE_ROWS.
override steps: u32; // no less than places / 64 and experts / 64

struct Sizes {
	@size(4) places: u32,
	@size(12) experts: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> experts: array<u32>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> list: array<atomic<u32>>;
@group(0) @binding(4) var<storage, read_write> slots: array<atomic<u32>>;

var<workgroup> tiles: array<u32, 64>;
var<workgroup> found: array<u32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let expert = wid.y * 65535u + wid.x;
	var before = 0u;
	for (var s = 0u; s < steps; s++) {
		let e = s * 64u + lane;
		if (e >= expert || e >= sizes.experts) {
			break;
		}
		before += (counts[e] + TILE_ROWS - 1u) / TILE_ROWS;
	}
	// A lane's places are neighbours.
	let each = (sizes.places + 63u) / 64u;
	var n = 0u;
	for (var s = 0u; s < steps; s++) {
		let i = lane * each + s;
		if (s >= each || i >= sizes.places) {
			break;
		}
		n += u32(experts[i] == expert);
	}
	tiles[lane] = before;
	found[lane] = n;
	workgroupBarrier();
	var at = 0u;
	for (var k = 0u; k < 64u; k++) {
		at += tiles[k] * TILE_ROWS + select(0u, found[k], k < lane);
	}
	for (var s = 0u; s < steps; s++) {
		let i = lane * each + s;
		if (s >= each || i >= sizes.places || expert >= sizes.experts) {
			break;
		}
		if (experts[i] == expert) {
			atomicAdd(&list[at], i + 1u);
			atomicAdd(&slots[i], at + 1u);
			at++;
		}
	}
}
