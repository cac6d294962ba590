// Scores lie in tiles: TILE keys of each line of a block.
fn score_place(shared_by: u32, r: u32, key: u32) -> u32 {
	let block = (shared_by * params.v[3].z + r / LINES) * params.v[4].z + key / TILE;
	return (block * LINES + r % LINES) * TILE + key % TILE;
}
