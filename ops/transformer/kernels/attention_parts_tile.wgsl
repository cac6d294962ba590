// attention_parts.wgsl for many lines: tiles of 64 lines by 64 elements of a value (tile_f64.wgsl or tile_units.wgsl, TILE_ROWS is LINES) over a split of the keys; weights lie where scores did
// (attention_weigh.wgsl). In front: attention_place.wgsl, `scores`, `parts`; behind: the tile's sums.
override steps: u32; // no less than tiles of a split

var<workgroup> sights: array<vec2<u32>, LINES>;
var<workgroup> places: array<u32, TILE>;
var<workgroup> lowest: atomic<u32>; // less than no position
var<workgroup> highest: atomic<u32>;
var<workgroup> sight: vec2<u32>; // what some line sees

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let whole = wid.y * 65535u + wid.x;
	let chunk = whole % CHUNKS;
	let group = whole / CHUNKS;
	let split = group % params.v[4].w;
	let block = group / params.v[4].w % params.v[3].z;
	let shared_by = group / params.v[4].w / params.v[3].z;
	let b = shared_by / params.v[1].y;
	let j = shared_by % params.v[1].y;
	let column = chunk * 64u + lane % 64u;
	var largest = 0.0lf;
	if (lane < LINES) {
		let r = block * LINES + lane;
		let see = seen(line_of(shared_by, r), r);
		sights[lane] = see;
		if (see.x < see.y) {
			atomicMax(&lowest, 0xffffffffu - see.x);
			atomicMax(&highest, see.y);
		}
	}
	workgroupBarrier();
	if (lane == 0u) {
		sight = vec2<u32>(0xffffffffu - atomicLoad(&lowest), atomicLoad(&highest));
	}
	let all = workgroupUniformLoad(&sight);
