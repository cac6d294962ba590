// How tiles of a product lie over workgroups of LANES (in front), side by side, for processors: 32 rows, four columns a lane, row by row. Slot s of all tiles one
// after the other is one element.
const ROWS: u32 = 32u;
const COLUMNS: u32 = LANES * 4u;
const CELLS: u32 = ROWS * COLUMNS;

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	return tile * CELLS + (row % ROWS) * COLUMNS + column % COLUMNS;
}
