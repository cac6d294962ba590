// Squared norms of a tile's rows and columns, which an invocation loads as vectors lane / TILE_TERMS, TILE_LOADED further, ..: what each found, joined. In front: tile_f64.wgsl or tile_units.wgsl.
const TILE_LOADED: u32 = 256u / TILE_TERMS; // vectors of which a term is loaded by each invocation

var<workgroup> norms: array<f64, TILE_ROWS + 64u>; // of rows, then of columns

fn square(bits: u32) -> f64 {
	let x = f64(bitcast<f32>(bits));
	return x * x;
}

// Of TILE_LOADED vectors, as norms from `to` on; rows first, since they may be fewer. All lanes arrive, and terms are of no more use.
fn norm_join(lane: u32, to: u32, mine: f64) {
	room[lane] = mine;
	workgroupBarrier();
	if (lane < TILE_LOADED) {
		var all = 0.0lf;
		for (var k = 0u; k < TILE_TERMS; k++) {
			all += room[lane * TILE_TERMS + k];
		}
		norms[to + lane] = all;
	}
	workgroupBarrier();
}
