//# max dispatch = 65535,1,1
// Items that a mask lets through move to the front in three dispatches: counted by workgroup, counts added up, placed.
// An item's place follows from a scan alone, never from who came first.
override WG: u32 = 64;

struct Params {
	n: u32,
	mask: u32,
	wanted: u32,
	groups: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> items: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> starts: array<u32>;
@group(0) @binding(4) var<storage, read_write> kept: array<u32>;
@group(0) @binding(5) var<storage, read_write> origin: array<u32>;

var<workgroup> part: array<u32, 256>;

fn keeps(i: u32) -> bool {
	return i < params.n && (items[i] & params.mask) == params.wanted;
}

@compute @workgroup_size(WG)
fn count(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	part[lid] = select(0u, 1u, keeps(wid.x * WG + lid));
	workgroupBarrier();
	for (var step = 1u; step < 256u; step <<= 1u) {
		var before = 0u;
		if (lid >= step) {
			before = part[lid - step];
		}
		workgroupBarrier();
		part[lid] += before;
		workgroupBarrier();
	}
	if (lid == WG - 1u) {
		counts[wid.x] = part[lid];
	}
}

@compute @workgroup_size(1)
fn add() {
	var sum = 0u;
	for (var g = 0u; g < min(params.groups, 16384u); g++) {
		starts[g] = sum;
		sum += counts[g];
	}
	starts[params.groups] = sum;
}

@compute @workgroup_size(WG)
fn place(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	let i = wid.x * WG + lid;
	let keep = keeps(i);
	part[lid] = select(0u, 1u, keep);
	workgroupBarrier();
	for (var step = 1u; step < 256u; step <<= 1u) {
		var before = 0u;
		if (lid >= step) {
			before = part[lid - step];
		}
		workgroupBarrier();
		part[lid] += before;
		workgroupBarrier();
	}
	if (keep) {
		let to = starts[wid.x] + part[lid] - 1u;
		kept[to] = items[i];
		origin[to] = i;
	}
}
