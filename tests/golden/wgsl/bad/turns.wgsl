// expect: PC2114@3 PC2114@4 PC2114@6 PC2115@7
// rules 1: PC2114@4 PC2115@3 PC2115@5 PC2115@6 PC2115@7
//# max turns = 0
//# max turns = many
//# max turns = 3
//# max turns = 4
//# max turns.n = 4
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	out[gid.x] = 1u;
}
