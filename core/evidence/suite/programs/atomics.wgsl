//# max dispatch = 65535,1,1
// Every invocation does one atomic operation on one of a few cells and keeps what it gave back. Made to be judged by the
// host: which invocation comes first is open, that there is one order of all is not.
override WG: u32 = 64;

struct Params {
	n: u32,
	op: u32,
	cells: u32,
	expected: u32,
}

struct Answer {
	old: u32,
	done: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> cells: array<atomic<u32>>;
@group(0) @binding(3) var<storage, read_write> answers: array<Answer>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	if (gid.x >= params.n) {
		return;
	}
	let value = values[gid.x];
	let c = gid.x % params.cells;
	var old = 0u;
	var done = 1u;
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
	answers[gid.x].old = old;
	answers[gid.x].done = done;
}
