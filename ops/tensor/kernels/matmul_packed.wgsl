// Where factors lie once they are packed for matrix units (matmul_pack.wgsl): in groups of eight vectors, which are rows of a or columns of b, and of a group
// 16 terms after the other, 128 words: of a by rows, of b by terms. Each matrix has groups enough for whole tiles (SIDE stands in front), each group a
// multiple of 128 terms.
fn steps_of_128() -> u32 {
	return (params.k + 127u) / 128u;
}

fn groups_a() -> u32 {
	return (params.m + SIDE - 1u) / SIDE * (SIDE / 8u);
}

fn groups_b() -> u32 {
	return (params.n + SIDE - 1u) / SIDE * (SIDE / 8u);
}

// The first groups of the matrices that batch z multiplies.
fn groups_of(z: u32) -> vec2<u32> {
	let at = place(z * params.m * params.n);
	return vec2<u32>(at.x / (params.m * params.k) * groups_a(), at.y / (params.k * params.n) * groups_b());
}
