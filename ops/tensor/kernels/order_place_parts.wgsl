// order_place.wgsl where `order` lies in several bindings. Where element i of a result in order comes from. v[0]: inner, n, k, of x as [outer, n, inner] and the result as [outer, k, inner]; `order`
// holds line after line.
fn taken_from(i: u32) -> u32 {
	let inner = params.v[0].x;
	let line = (i / inner / params.v[0].z) * inner + i % inner;
	return order_word(line * params.v[0].y + (i / inner) % params.v[0].z);
}
