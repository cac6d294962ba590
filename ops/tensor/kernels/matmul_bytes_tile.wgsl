// Products of packed bytes (matmul_bytes.wgsl), for a processor with an instruction for four of them: a workgroup has 40 rows of 64 columns, an invocation four columns, whose sums of 5
// rows are in registers while it goes through all terms. Words of a are the same for all lanes, those of b a vector. In front: the packed factors; behind: what matmul_bytes.c writes.
@compute @workgroup_size(16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let n = words();
	let all_rows = params.count / params.n;
	let column = group.y * 64u;
	let panel = group.y * (steps * 64u);
	let c0 = more[column + lane];
	let c1 = more[(column + 16u) + lane];
	let c2 = more[(column + 32u) + lane];
	let c3 = more[(column + 48u) + lane];
	for (var t = 0u; t < 8u; t++) {
		let row = group.x * 40u + t * 5u;
		if (row >= all_rows) {
			break;
		}
