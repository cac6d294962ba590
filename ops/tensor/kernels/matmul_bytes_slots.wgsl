// How tiles of matmul_tile_bytes.wgsl lie over workgroups of 128, where products are many: 128 rows, 128 columns, 64 by 64 a subgroup, as 4 by 4 results of 16 by 16. Slot s of all tiles
// one after the other is one element; of a tile, slot result * 1024 + i * 128 + lane is component i * 32 + lane % 32 of a result, by rows.
const ROWS: u32 = 128u;
const COLUMNS: u32 = 128u;

fn slot_of(z: u32, row: u32, column: u32) -> u32 {
	let tile = (z * down() + row / ROWS) * across() + column / COLUMNS;
	let result = row % 64u / 16u * 4u + column % 64u / 16u;
	let at = row % 16u * 16u + column % 16u;
	let subgroup = row % ROWS / 64u * 2u + column % COLUMNS / 64u;
	return tile * 16384u + result * 1024u + at / 32u * 128u + subgroup * 32u + at % 32u;
}
