// An element of a convolution that stands in `made`, a product of matrices whose terms outside x are zeros: a zero beside a finite number is no
// term, beside another a NaN. So only a NaN is found once more, without them. In front: conv.wgsl.
fn product(i: u32) -> T {
	let found = made_raw(i);
	if (found != NAN) {
		return found;
	}
	return direct(i);
}
