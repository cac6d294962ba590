// Numbers of six digits of 32 bits, in units of 2^-149 as in unit_sum.wgsl.
struct Wide {
	d: array<u32, 6>,
}

fn wide_add(a: Wide, b: Wide) -> Wide {
	var r: Wide;
	var carry = 0lu;
	for (var i = 0u; i < 6u; i++) {
		carry += u64(a.d[i]) + u64(b.d[i]);
		r.d[i] = u32(carry & 0xfffffffflu);
		carry = carry >> 32u;
	}
	return r;
}

fn wide_times(a: Wide, n: u32) -> Wide {
	var r: Wide;
	var carry = 0lu;
	for (var i = 0u; i < 6u; i++) {
		carry += u64(a.d[i]) * u64(n);
		r.d[i] = u32(carry & 0xfffffffflu);
		carry = carry >> 32u;
	}
	return r;
}

fn wide_below(a: Wide, b: Wide) -> bool {
	var below = false;
	for (var i = 0u; i < 6u; i++) {
		below = a.d[i] < b.d[i] || (a.d[i] == b.d[i] && below);
	}
	return below;
}

fn wide_is_zero(a: Wide) -> bool {
	var any = 0u;
	for (var i = 0u; i < 6u; i++) {
		any |= a.d[i];
	}
	return any == 0u;
}

// An f32 from 0 to 1.
fn wide_of(bits: u32) -> Wide {
	var r: Wide;
	let field = bits >> 23u;
	let bit = max(field, 1u) - 1u;
	let part = u64((bits & 0x7fffffu) | select(0x800000u, 0u, field == 0u)) << (bit & 31u);
	let at = min(bit >> 5u, 4u);
	r.d[at] = u32(part & 0xfffffffflu);
	r.d[at + 1u] = u32(part >> 32u);
	return r;
}

fn wide_one() -> Wide {
	var r: Wide;
	r.d[0] = 1u;
	return r;
}

// The least integer that is no less than a times p, an f32 from 0 to below 1.
fn wide_part(a: Wide, p: u32) -> Wide {
	let field = p >> 23u;
	let all = wide_times(a, (p & 0x7fffffu) | select(0x800000u, 0u, field == 0u));
	let shift = 150u - max(field, 1u);
	let whole = shift >> 5u;
	var r: Wide;
	var rest = false;
	for (var i = 0u; i < 6u; i++) {
		let at = i + whole;
		let low = select(0u, all.d[min(at, 5u)], at < 6u);
		let high = select(0u, all.d[min(at + 1u, 5u)], at + 1u < 6u);
		let pair = u64(low) | (u64(high) << 32u);
		r.d[i] = u32((pair >> (shift & 31u)) & 0xfffffffflu);
		rest = rest || (i < whole && all.d[i] != 0u) ||
			(i == whole && (all.d[i] & ((1u << (shift & 31u)) - 1u)) != 0u);
	}
	if (rest) {
		r = wide_add(r, wide_one());
	}
	return r;
}

// The least integer above a times u * 2^-64, the lower word of u first.
fn wide_drawn(a: Wide, u: vec2<u32>) -> Wide {
	var all: array<u32, 8>;
	for (var word = 0u; word < 2u; word++) {
		let n = u64(select(u.x, u.y, word == 1u));
		var carry = 0lu;
		for (var i = 0u; i < 7u; i++) {
			let digit = select(0u, a.d[min(i, 5u)], i < 6u);
			carry += u64(all[i + word]) + u64(digit) * n;
			all[i + word] = u32(carry & 0xfffffffflu);
			carry = carry >> 32u;
		}
	}
	var r: Wide;
	for (var i = 0u; i < 6u; i++) {
		r.d[i] = all[i + 2u];
	}
	return wide_add(r, wide_one());
}
