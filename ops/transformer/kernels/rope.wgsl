// Rotated pairs of x [b, t, h, d]. v[0]: t, h, d, pairs of the table; v[1]: b, positions of the table. In front: `x`, `turns`, `tokens`, NEIGHBOURS, `narrow`.
fn product(i: u32) -> T {
	let t = params.v[0].x;
	let h = params.v[0].y;
	let d = params.v[0].z;
	let pairs = params.v[0].w;
	if (i < 2u) {
		sequences_look(i, params.v[1].x, t, params.v[1].y);
	}
	let e = i % d;
	let token = i / d / h;
	let b = token / t;
	if (token % t >= tokens(b, t)) {
		return 0u;
	}
	if (e >= 2u * pairs) {
		return x_raw(i);
	}
	let step = select(pairs, 1u, NEIGHBOURS);
	let second = select(e >= pairs, (e & 1u) == 1u, NEIGHBOURS);
	let pair = select(e - select(0u, pairs, second), e >> 1u, NEIGHBOURS);
	let place = 2u * ((start[b] + token % t) * pairs + pair);
	let x0 = bitcast<f32>(x_bits(select(i, i - step, second)));
	let x1 = bitcast<f32>(x_bits(select(i + step, i, second)));
	let c = turns[place];
	let s = turns[place + 1u];
	if (second) {
		return narrow(fma(x0, s, x1 * c));
	}
	return narrow(fma(x0, c, -(x1 * s)));
}
