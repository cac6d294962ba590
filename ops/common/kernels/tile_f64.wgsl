// Sums of products in f64 of tiles with TILE_ROWS rows (16 times a number) and 64 columns, by workgroups of 256: 16 terms at a time go through workgroup memory. In front: TILE_ROWS; `step`; behind, in the
// entry point: tile_f64_sum.wgsl for each 16 rows, the loop that puts terms and multiplies (tile_f64_open.wgsl, tile_f64_multiply.wgsl for each 16 rows, `}`), and stages: tile_f64_stage.wgsl
// leaves 16 rows in `room`, of which staged(i) is row i / 64, column i % 64.
const PITCH: u32 = 65u; // so that columns fall on different banks

var<workgroup> left: array<f64, TILE_ROWS * 16u>; // [row][term]
var<workgroup> right: array<f64, 16u * PITCH>; // [term][column]
var<workgroup> room: array<f64, 1024>;

fn put_left(row: u32, k: u32, bits: u32) {
	left[row * 16u + k] = f64(bitcast<f32>(bits));
}

fn put_right(k: u32, column: u32, bits: u32) {
	right[k * PITCH + column] = f64(bitcast<f32>(bits));
}

// A term that no f32 holds, where there are no matrix units.
fn put_right_wide(k: u32, column: u32, x: f64) {
	right[k * PITCH + column] = x;
}

fn staged(i: u32) -> f64 {
	return room[i];
}
