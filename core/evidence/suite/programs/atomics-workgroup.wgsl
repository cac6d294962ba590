//# max dispatch = 65535,1,1
// As atomics.wgsl, on workgroup memory: cells of every workgroup start as the host says, and end up in `ends`.
override WG: u32 = 64;

struct Params {
	n: u32,
	op: u32,
	cells: u32,
	expected: u32,
	start: u32,
}

struct Answer {
	old: u32,
	done: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> answers: array<Answer>;

var<workgroup> cells: array<atomic<u32>, 8>;

@compute @workgroup_size(WG)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) lid: u32) {
	if (lid == 0u) {
		for (var c = 0u; c < 8u; c++) {
			atomicStore(&cells[c], params.start);
		}
	}
	workgroupBarrier();
	let i = wid.x * WG + lid;
	let value = values[i];
	let c = lid % params.cells;
	var old = 0u;
	var done = 1u;
	if (i < params.n) {
		switch (params.op) {
			case 0u: { old = atomicAdd(&cells[c], value); }
			case 1u: { old = atomicSub(&cells[c], value); }
			case 2u: { old = atomicOr(&cells[c], value); }
			case 3u: { old = atomicAnd(&cells[c], value); }
			case 4u: { old = atomicXor(&cells[c], value); }
			case 5u: { old = atomicMin(&cells[c], value); }
			case 6u: { old = atomicMax(&cells[c], value); }
			case 7u: { old = atomicExchange(&cells[c], value); }
			default: {
				let r = atomicCompareExchangeWeak(&cells[c], params.expected, value);
				old = r.old_value;
				done = select(0u, 1u, r.exchanged);
			}
		}
		answers[i].old = old;
		answers[i].done = done;
	}
	workgroupBarrier();
	if (lid == 0u) {
		for (var k = 0u; k < min(params.cells, 8u); k++) {
			ends[wid.x * params.cells + k] = atomicLoad(&cells[k]);
		}
	}
}
