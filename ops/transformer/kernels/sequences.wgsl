// The lowest sequence with more tokens than a chunk has (0), and the lowest with a token at a position out of range (1), and the number there;
// all bits where there is none. In front: `start`, `count`, `tokens`, `found`.
fn sequences_look(which: u32, n: u32, t: u32, positions: u32) {
	var at = 0xffffffffu;
	var number = 0u;
	for (var i = 0u; i < steps; i++) {
		let b = n - 1u - i; // downwards, so that the lowest is the last that is seen
		if (i >= n) {
			break;
		}
		let said = counted(b, t);
		let first = start[b];
		let room = max(positions, first) - first;
		if (which == 0u && said > t) {
			at = b;
			number = said;
		}
		if (which == 1u && min(said, t) > room) {
			at = b;
			number = first + room;
		}
	}
	found[which] = vec2<u64>(u64(at), u64(number));
}
