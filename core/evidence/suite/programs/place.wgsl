//# max dispatch = 65535,1,1
// Every element's result is a function of the element alone, whatever workgroup does it: the workgroup's number is
// permuted by the host, and its size is an override. Sums over the workgroup by a tree end in totals that any order of
// workgroups gives.
override WG: u32 = 64;

struct Params {
	n: u32,
	groups: u32,
	factor: u32,
	shift: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
@group(0) @binding(3) var<storage, read_write> totals: array<atomic<u32>, 4>;

var<workgroup> part: array<u32, 256>;

fn hash(a: u32) -> u32 {
	var x = a;
	x = (x ^ (x >> 16u)) * 0x7feb352du;
	x = (x ^ (x >> 15u)) * 0x846ca68bu;
	return x ^ (x >> 16u);
}

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let group = (wid.x * params.factor + params.shift) % params.groups;
	let i = group * WG + lid;
	var value = 0u;
	if (i < params.n) {
		value = hash(items[i] + i * 3u);
		results[i] = value;
	}
	part[lid] = value;
	workgroupBarrier();
	for (var width = 128u; width > 0u; width >>= 1u) {
		if (lid < width && lid + width < WG) {
			part[lid] += part[lid + width];
		}
		workgroupBarrier();
	}
	if (lid == 0u) {
		atomicAdd(&totals[0], part[0]);
		atomicAdd(&totals[1], 1u);
	}
	if (i < params.n) {
		atomicAdd(&totals[2], 1u);
		atomicAdd(&totals[3], value ^ i);
	}
}
