// How tiles of a product lie over workgroups of 256: 64 rows, 64 columns, 4 by 4 an invocation. Slot s of all tiles one after the
// other is one element; of a tile, slot (4 i + j) * 256 + lane.
const ROWS: u32 = 64u;
const COLUMNS: u32 = 64u;

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	let r = row % ROWS;
	let c = column % COLUMNS;
	return tile * 4096u + ((r & 3u) * 4u + (c >> 4u)) * 256u + (r >> 2u) * 16u + (c & 15u);
}
