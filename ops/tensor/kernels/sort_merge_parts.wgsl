// sort_merge.wgsl where runs are longer than a binding: keys and payloads are read by keys_word and payloads_word, which stand in front and look
// through several bindings, and the pairs written are those of one binding, from pair `begin` on.
struct Params {
	@size(4) n: u32,
	@size(4) run: u32, // a power of two
	@size(4) steps: u32, // of the search: log2(run) + 1
	@size(4) begin: u32, // a multiple of 32
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(2) var<storage, read_write> payloads_out: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let lane = gid.y * 4194240u + gid.x;
	let at = lane * 32u;
	if (at < arrayLength(&keys_out)) {
		let first = params.begin + at;
		let last = params.n - 1u;
		let a_begin = first & ~(2u * params.run - 1u);
		let b_begin = min(a_begin + params.run, params.n);
		let b_end = min(a_begin + 2u * params.run, params.n);
		let skip = first - a_begin; // pairs of the two runs written by others before
		var low = skip - min(skip, b_end - b_begin);
		var high = min(skip, b_begin - a_begin);
		for (var step = 0u; step < min(params.steps, 32u); step++) {
			if (low < high) {
				let middle = (low + high) >> 1u;
				if (keys_word(a_begin + middle) <= keys_word(b_begin + skip - 1u - middle)) {
					low = middle + 1u;
				} else {
					high = middle;
				}
			}
		}
		var a = a_begin + low;
		var b = b_begin + skip - low;
		var a_key = keys_word(min(a, last));
		var b_key = keys_word(min(b, last));
		for (var i = 0u; i < 32u; i++) {
			if (at + i < arrayLength(&keys_out)) {
				let take_a = (a < b_begin) & ((b >= b_end) | (a_key <= b_key));
				keys_out[at + i] = select(b_key, a_key, take_a);
				payloads_out[at + i] = payloads_word(select(b, a, take_a));
				a += select(0u, 1u, take_a);
				b += select(1u, 0u, take_a);
				let next = keys_word(min(select(b, a, take_a), last));
				a_key = select(a_key, next, take_a);
				b_key = select(next, b_key, take_a);
			}
		}
	}
}
