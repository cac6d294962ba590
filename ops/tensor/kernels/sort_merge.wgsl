//# max dispatch = 65535,65535,1
// One round of a stable merge sort: neighbouring sorted runs become runs of twice the length. An invocation
// writes 32 pairs in a row; where they come from in the two runs is found by one binary search along the merge
// path, so all writes lie where the invocation's number says and nothing depends on an order of execution.
struct Params {
	@size(4) n: u32,
	@size(4) run: u32, // a power of two, at least 16
	@size(4) steps: u32, // of the search: log2(run) + 1
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> payloads: array<u32>;
@group(0) @binding(3) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(4) var<storage, read_write> payloads_out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let first = lane * 32u;
	if (first < params.n) {
		let last = params.n - 1u;
		let a_begin = first & ~(2u * params.run - 1u);
		let b_begin = min(a_begin + params.run, params.n);
		let b_end = min(a_begin + 2u * params.run, params.n);
		let skip = first - a_begin; // pairs of the two runs written by others before
		// Of those, how many came from the first run? Equal keys: the first run's go first.
		var low = skip - min(skip, b_end - b_begin);
		var high = min(skip, b_begin - a_begin);
		for (var step = 0u; step < min(params.steps, 32u); step++) {
			if (low < high) {
				let middle = (low + high) >> 1u;
				if (keys[a_begin + middle] <= keys[b_begin + skip - 1u - middle]) {
					low = middle + 1u;
				} else {
					high = middle;
				}
			}
		}
		var a = a_begin + low;
		var b = b_begin + skip - low;
		var a_key = keys[min(a, last)];
		var b_key = keys[min(b, last)];
		for (var i = 0u; i < 32u; i++) {
			if (first + i < params.n) {
				let take_a = (a < b_begin) & ((b >= b_end) | (a_key <= b_key));
				keys_out[first + i] = select(b_key, a_key, take_a);
				payloads_out[first + i] = payloads[select(b, a, take_a)];
				a += select(0u, 1u, take_a);
				b += select(1u, 0u, take_a);
				let next = keys[min(select(b, a, take_a), last)];
				a_key = select(a_key, next, take_a);
				b_key = select(next, b_key, take_a);
			}
		}
	}
}
