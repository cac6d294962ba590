// How tiles of a product lie over workgroups of 256: 128 rows, 128 columns, 8 by 8 an invocation, as two by two squares of four, 64 apart. Slot s of all tiles one after the other
// is one element; of a tile, slot (8 i + j) * 256 + lane.
const ROWS: u32 = 128u;
const COLUMNS: u32 = 128u;

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	let r = row % ROWS;
	let c = column % COLUMNS;
	let i = (r >> 6u) * 4u + (r & 3u);
	let j = (c >> 6u) * 4u + (c & 3u);
	return tile * 16384u + (i * 8u + j) * 256u + ((r >> 2u) & 15u) * 16u + ((c >> 2u) & 15u);
}
