// Where tiles of matmul_tile_bytes.wgsl lie and what becomes of them, of one matrix: a workgroup a place of the grid, elements to where they belong. What is written for one stands for
// the dollar.
fn panels_at(group: vec3<u32>) -> vec2<u32> {
	return group.yx;
}

fn give(result: u32, group: vec3<u32>, lane: u32) {
	let subgroup = lane / 32u;
	for (var i = 0u; i < 8u; i++) {
		let at = i * 32u + lane % 32u;
		let row = group.y * 128u + subgroup / 2u * 64u + result / 4u * 16u + at / 16u;
		let column = group.x * 128u + subgroup % 2u * 64u + result % 4u * 16u + at % 16u;
		if (row < params.m && column < params.n) {
			let e = row * params.n + column;
			let word = bitcast<u32>(room[subgroup * 256u + at]);
			y[e] = $;
		}
	}
}
