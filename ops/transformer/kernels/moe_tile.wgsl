// Rows of one expert by 64 rows of its matrix (tile_f64.wgsl or tile_units.wgsl), so that what was read of the matrix is multiplied with TILE_ROWS rows of x: what sums say of elements, or MARK, slot by slot
// of the tiles. In front: moe_place.wgsl, within.wgsl, root_above.wgsl, tile_norms.wgsl, moe_tile_term.wgsl or moe_tile_pair.wgsl, `list`, `temp`; behind: the tile's sums.
var<workgroup> rows: array<u32, TILE_ROWS>; // where they begin in x
var<workgroup> used: u32; // the first place, and 1

const NOWHERE: u32 = 0xffffffffu;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let whole = wid.y * 65535u + wid.x;
	let across = (params.m + 63u) / 64u;
	let first = whole / across * TILE_ROWS;
	let column = whole % across * 64u;
	if (lane < TILE_ROWS) {
		let place = list[first + lane];
		let i = max(place, 1u) - 1u;
		rows[lane] = select(select(i / params.k, i, params.each == 1u) * params.n, NOWHERE, place == 0u);
		if (lane == 0u) {
			used = place;
		}
	}
	let place = workgroupUniformLoad(&used);
	if (place != 0u) {
	let expert = experts[place - 1u];
	var squares_left: array<f64, (TILE_ROWS + TILE_LOADED - 1u) / TILE_LOADED>;
	var squares_right: array<f64, 64u / TILE_LOADED>;
