//# max dispatch = 1,1,1
// Before an instance: how many workgroups its dispatches may have. All of them where it is active, none where it is not, and the
// other way round for the kernel that passes the message on.
struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }
@group(0) @binding(0) var<storage, read> control: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32, 8>;
@group(1) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(1)
fn main() {
	let runs = (control[p.layer_idx].w << 1u) != 0u;
	let run = select(0u, 0xffffffffu, runs);
	for (var i = 0u; i < 3u; i++) {
		counts[i] = run;
		counts[4u + i] = ~run;
	}
}
