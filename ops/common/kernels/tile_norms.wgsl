// Squared norms of a tile's rows and columns, which invocation i loads as rows i / 16, i / 16 + 16, ..: what each found, joined. In front: tile_f64.wgsl or tile_units.wgsl.
var<workgroup> norms: array<f64, TILE_ROWS + 64u>; // of rows, then of columns

fn square(bits: u32) -> f64 {
	let x = f64(bitcast<f32>(bits));
	return x * x;
}

// Of vectors 16 * i + lane / 16; all lanes arrive, and no one reads `room` before.
fn norm_join(lane: u32, to: u32, mine: f64) {
	room[lane] = mine;
	workgroupBarrier();
	if (lane < 16u) {
		var all = 0.0lf;
		for (var k = 0u; k < 16u; k++) {
			all += room[lane * 16u + k];
		}
		norms[to + lane] = all;
	}
	workgroupBarrier();
}
