// Scores lie as attention_scores_few.wgsl gives them: 32 keys of each line of a block, two of them to a tile.
fn score_place(shared_by: u32, r: u32, key: u32) -> u32 {
	let block = (shared_by * params.v[3].z + r / LINES) * (2u * params.v[4].z) + key / 32u;
	return (block * LINES + r % LINES) * 32u + key % 32u;
}
