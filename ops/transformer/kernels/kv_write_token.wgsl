// One token of each sequence into a cache: a workgroup a sequence, whose places no other has, so that words are simply written. In front: CAPACITY (positions of a sequence), WORDS (of a
// row), EACH (elements of a word), `y`, `tokens`, `element`, `look`, `place_of`.
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let b = wid.x;
	look(b * 256u + lane, params.v[0].z, 1u, CAPACITY);
	let first = start[b];
	if (tokens(b, 1u) != 0u && first < CAPACITY) {
		let place = place_of(b, first);
		for (var i = 0u; i < (WORDS + 255u) / 256u; i++) {
			let e = i * 256u + lane;
			if (e < WORDS && place < PLACES) {
				y[place * WORDS + e] = element((b * WORDS + e) * EACH);
			}
		}
	}
}
