// How tiles of a product lie over workgroups of 256 that multiply by matrix units: 128 rows, 128 columns; each of the eight subgroups has 64 by 32 of
// these, as 4 by 4 results of 16 by 8. Slot s of all tiles one after the other is one element; of a tile, slot (4 result + c) * 256 + lane is
// component c * 32 + lane % 32 of a result, by rows.
const ROWS: u32 = 128u;
const COLUMNS: u32 = 128u;
const CELLS: u32 = 16384u;

fn across() -> u32 {
	return (params.n + COLUMNS - 1u) / COLUMNS;
}

fn down() -> u32 {
	return (params.m + ROWS - 1u) / ROWS;
}

// Batch, first row, first column.
fn corner(tile: u32) -> vec3<u32> {
	let rest = tile / across();
	return vec3<u32>(rest / down(), (rest % down()) * ROWS, (tile % across()) * COLUMNS);
}

// Row and column, within the tile, of component c of a lane's share of a result.
fn cell(result: u32, c: u32, lane: u32) -> vec2<u32> {
	let i = c * 32u + (lane & 31u);
	return vec2<u32>((lane >> 7u) * 64u + (result >> 2u) * 16u + (i >> 3u), ((lane >> 5u) & 3u) * 32u + (result & 3u) * 8u + (i & 7u));
}

fn element_of(slot: u32) -> vec3<u32> {
	let at = (slot >> 8u) & 63u;
	return corner(slot / CELLS) + vec3<u32>(0u, cell(at >> 2u, at & 3u, slot & 255u));
}

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	let r = row % ROWS;
	let c = column % COLUMNS;
	let result = ((r >> 4u) & 3u) * 4u + ((c >> 3u) & 3u);
	let i = (r & 15u) * 8u + (c & 7u);
	let subgroup = (r >> 6u) * 4u + (c >> 5u);
	return tile * CELLS + (result * 4u + (i >> 5u)) * 256u + subgroup * 32u + (i & 31u);
}
