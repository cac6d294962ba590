// An element of the result, out of its tile.
fn product(element: u32) -> u32 {
	let rest = element / params.n;
	return temp[slot_of(rest / params.m, rest % params.m, element % params.n)];
}
