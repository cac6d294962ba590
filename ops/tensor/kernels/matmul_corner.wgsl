// Where a tile begins, whatever its layout, which has ROWS and COLUMNS.
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
