// Sums of products in f64 of tiles with TILE_ROWS rows (16 times a number) and 64 columns, by workgroups of 256: TILE_TERMS terms at a time go through workgroup memory. In front: TILE_ROWS, `step`;
// behind, in the entry point: tile_f64_sum.wgsl for each 16 rows, the loop that puts terms and multiplies (tile_f64_open.wgsl, tile_f64_multiply.wgsl for each 16 rows, `}`), and stages:
// tile_f64_stage.wgsl leaves 16 rows in `room`, of which staged(i) is row i / 64, column i % 64. Terms have that room before.
const TILE_TERMS: u32 = 8u;
const RIGHT: u32 = TILE_ROWS * TILE_TERMS; // where columns' terms begin
const PITCH: u32 = 65u; // so that columns fall on different banks

var<workgroup> room: array<f64, max(1024u, RIGHT + TILE_TERMS * PITCH)>; // [row][term], then [term][column]

fn put_left(row: u32, k: u32, bits: u32) {
	room[row * TILE_TERMS + k] = f64(bitcast<f32>(bits));
}

fn put_right(k: u32, column: u32, bits: u32) {
	room[RIGHT + k * PITCH + column] = f64(bitcast<f32>(bits));
}

// A term that no f32 holds, where there are no matrix units.
fn put_right_wide(k: u32, column: u32, x: f64) {
	room[RIGHT + k * PITCH + column] = x;
}

fn staged(i: u32) -> f64 {
	return room[i];
}
