// Weights in the places of scores, a workgroup the 64 keys of a block of lines. In front: attention_place.wgsl, attention_weight.wgsl, `scores`, `rows`.
var<workgroup> sights: array<vec2<u32>, LINES>;
var<workgroup> greatest: array<u32, LINES>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let block = group / params.v[4].z % params.v[3].z;
	let shared_by = group / params.v[4].z / params.v[3].z;
	let first = group % params.v[4].z * TILE;
	if (lane < LINES) {
		let r = block * LINES + lane;
		let see = seen(line_of(shared_by, r), r);
		sights[lane] = see;
		greatest[lane] = 0u;
		if (see.x < see.y) {
			greatest[lane] = rows[shared_by * params.v[3].y + r].x;
		}
	}
	workgroupBarrier();
	for (var i = 0u; i < LINES / 4u; i++) {
		let at = i * 256u + lane;
		let see = sights[at / TILE];
		let key = first + at % TILE;
		if (key >= see.x && key < see.y) {
			scores[group * (LINES * TILE) + at] = weight_of(scores[group * (LINES * TILE) + at], greatest[at / TILE]);
		}
	}
}
