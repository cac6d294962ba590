//# max dispatch = 65535,1,1
// Every item counted twice: in a bin of its workgroup that is added to the whole afterwards, and directly.
override WG: u32 = 64;

struct Params {
	n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> bins: array<atomic<u32>, 64>;
@group(0) @binding(3) var<storage, read_write> direct: array<atomic<u32>, 64>;

var<workgroup> local: array<atomic<u32>, 64>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) gid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	if (gid.x < params.n) {
		atomicAdd(&local[items[gid.x] % 64u], 1u);
		atomicAdd(&direct[items[gid.x] % 64u], 1u);
	}
	workgroupBarrier();
	for (var bin = 0u; bin < 64u; bin++) {
		if (bin % WG == lid) {
			atomicAdd(&bins[bin], atomicLoad(&local[bin]));
		}
	}
}
