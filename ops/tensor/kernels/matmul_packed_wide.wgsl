// Where factors lie once they are packed for matmul_tile_wide.wgsl: in panels of 128 vectors, which are rows of a or columns of b, and of a panel one term after the other. Each
// panel has a multiple of 16 terms. In front: `terms`, of an element.
fn blocks() -> u32 {
	return (terms() + 15u) / 16u;
}

fn panels_of_matrix(n: u32) -> u32 {
	return (n + 127u) / 128u;
}

// The first panels of the matrices that batch z multiplies.
fn panels_of(z: u32) -> vec2<u32> {
	let at = place(z * params.m * params.n);
	return vec2<u32>(at.x / (params.m * params.k) * panels_of_matrix(params.m), at.y / (params.k * params.n) * panels_of_matrix(params.n));
}
