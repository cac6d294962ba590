//# max dispatch = 65535,1,1
// Clean, but made to show a device that is not: words side by side are written by different workgroups, workgroup memory
// is used again and again, and totals are contended. Run over and over, it must give the same bytes.
override WG: u32 = 64;

struct Params {
	groups: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, 8>;

var<workgroup> cells: array<u32, 256>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	if (wid.x >= params.groups) {
		return;
	}
	var value = items[lid * params.groups + wid.x];
	for (var r = 0u; r < 6u; r++) {
		cells[lid] = value;
		workgroupBarrier();
		value = value * 9u + cells[(lid + (1u << r)) % WG];
		workgroupBarrier();
	}
	results[lid * params.groups + wid.x] = value;
	atomicAdd(&totals[value % 8u], value);
}
