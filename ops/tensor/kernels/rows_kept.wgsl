// A lane's elements in workgroup memory, each lane its own: element i is the i % 4th of quad i / 4.
var<workgroup> kept: array<u32, KEPT>;

fn keep_one(i: u32, at: u32, bits: u32) {
	kept[i * LOCAL + at] = bits;
}

fn keep(j: u32, at: u32, quad: vec4<u32>) {
	kept[4u * j * LOCAL + at] = quad.x;
	kept[(4u * j + 1u) * LOCAL + at] = quad.y;
	kept[(4u * j + 2u) * LOCAL + at] = quad.z;
	kept[(4u * j + 3u) * LOCAL + at] = quad.w;
}

fn kept_bits(first: u32, lane: u32, at: u32, i: u32) -> u32 {
	return kept[i * LOCAL + at];
}
