// expect: PC2203@4 PC2203@5
@compute @workgroup_size(64)
fn main() {
	let b = subgroupBallot(true);
	let q = quadSwapX(1u);
}
