// The first of the updates of element i among all, which are sorted by the element they go to. v[0]: updates, and the most of one element.
fn first_of(i: u32) -> u32 {
	var low = 0u;
	var high = params.v[0].x;
	for (var step = 0u; step < 32u; step++) {
		if (low < high) {
			let middle = (low + high) >> 1u;
			if (targets[middle] < i) {
				low = middle + 1u;
			} else {
				high = middle;
			}
		}
	}
	return low;
}
