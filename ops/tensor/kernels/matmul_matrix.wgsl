// How tiles of a product lie over workgroups of 128 that multiply by matrix units: SIDE rows, SIDE columns (in front); each of the four subgroups has half by half of these, as DOWN by
// ACROSS results of 16 by 8. Slot s of all tiles one after the other is one element; of a tile, slot (4 result + c) * 128 + lane is component c * 32 + lane % 32 of a result, by rows.
const ROWS: u32 = SIDE;
const COLUMNS: u32 = SIDE;
const CELLS: u32 = SIDE * SIDE;
const DOWN: u32 = SIDE / 32u;
const ACROSS: u32 = SIDE / 16u;

// Row and column, within the tile, of component c of a lane's share of a result.
fn cell(result: u32, c: u32, lane: u32) -> vec2<u32> {
	let i = c * 32u + (lane & 31u);
	return vec2<u32>((lane >> 6u) * (SIDE / 2u) + (result / ACROSS) * 16u + (i >> 3u), ((lane >> 5u) & 1u) * (SIDE / 2u) + (result % ACROSS) * 8u + (i & 7u));
}

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	let r = row % ROWS;
	let c = column % COLUMNS;
	let result = ((r >> 4u) % DOWN) * ACROSS + (c >> 3u) % ACROSS;
	let i = (r & 15u) * 8u + (c & 7u);
	let subgroup = r / (SIDE / 2u) * 2u + c / (SIDE / 2u);
	return tile * CELLS + (result * 4u + (i >> 5u)) * 128u + subgroup * 32u + (i & 31u);
}
