// An element taken along an axis. v[0]: inner, m, n, of y as [outer, m, inner] and x as [outer, n, inner].
fn product(i: u32) -> T {
	let inner = params.v[0].x;
	let m = params.v[0].y;
	let j = (i / inner) % m;
	let row = index_at(select(j, i, ALONG));
	return x_raw(((i / inner / m) * params.v[0].z + row) * inner + i % inner);
}
