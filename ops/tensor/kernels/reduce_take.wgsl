// A lane's terms, joined; four are read before the first is joined. In front: `take`, `join`, `none`.
fn lane_of(first: u32, start: u32) -> A {
	let last = params.terms - 1u;
	var acc = none();
	for (var i = 0u; i < steps; i += 4u) {
		let term = start + i * params.lanes;
		if (term >= params.terms) {
			break;
		}
		let t1 = term + params.lanes;
		let t2 = term + 2u * params.lanes;
		let t3 = term + 3u * params.lanes;
		let a = take(first + term_at(term), term);
		let b = take(first + term_at(min(t1, last)), t1);
		let c = take(first + term_at(min(t2, last)), t2);
		let d = take(first + term_at(min(t3, last)), t3);
		acc = join(acc, a);
		if (t1 < params.terms) {
			acc = join(acc, b);
		}
		if (t2 < params.terms) {
			acc = join(acc, c);
		}
		if (t3 < params.terms) {
			acc = join(acc, d);
		}
	}
	return acc;
}
