// A product more, exactly.
fn exact_term(a: u32, at: u32) {
	sum_product(a, w_bits(at));
}
