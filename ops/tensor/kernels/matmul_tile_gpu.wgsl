// Sums of products in tiles, by workgroups of 256: blocks of 16 terms go through workgroup memory, k ascending. In front: Acc (f32,
// f64 or u32), `value` (of bits), `step`, CHUNK, `finish`, the norms. Outside of the matrices 0 * -0 is added, which changes no sum. Zero rows and columns at the edges are nobody's.
var<workgroup> left: array<Acc, 1024>; // [row][k]
var<workgroup> right: array<Acc, 1024>; // [k][column]

fn load_a(at: u32, row: u32, k: u32) -> Acc {
	var bits = 0u;
	if (row < params.m && k < params.k) {
		bits = a_bits(at + row * params.a_row + k * params.a_column);
	}
	return value(bits);
}

fn load_b(at: u32, k: u32, column: u32) -> Acc {
	var bits = 0x80000000u;
	if (column < params.n && k < params.k) {
		bits = b_bits(at + k * params.b_row + column * params.b_column);
	}
	return value(bits);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let tile = group.y * 65535u + group.x;
	let c = corner(tile);
	let at = place(c.x * params.m * params.n);
	let x = lane & 15u;
	let y = lane >> 4u;
	var s0 = vec4<Acc>();
	var s1 = vec4<Acc>();
	var s2 = vec4<Acc>();
	var s3 = vec4<Acc>();
	var t0 = vec4<Acc>();
	var t1 = vec4<Acc>();
	var t2 = vec4<Acc>();
	var t3 = vec4<Acc>();
	for (var block = 0u; block < steps; block++) {
		let k0 = block * 16u;
		if (k0 >= params.k) {
			break;
		}
		for (var j = 0u; j < 4u; j++) {
			let i = j * 256u + lane;
			left[i] = load_a(at.x, c.y + (i >> 4u), k0 + (i & 15u));
			right[i] = load_b(at.y, k0 + (i >> 6u), c.z + (i & 63u));
		}
		workgroupBarrier();
		for (var k = 0u; k < 16u; k++) {
			let b = vec4<Acc>(right[k * 64u + x], right[k * 64u + x + 16u], right[k * 64u + x + 32u], right[k * 64u + x + 48u]);
			s0 = step(vec4<Acc>(left[y * 64u + k]), b, s0);
			s1 = step(vec4<Acc>(left[y * 64u + 16u + k]), b, s1);
			s2 = step(vec4<Acc>(left[y * 64u + 32u + k]), b, s2);
			s3 = step(vec4<Acc>(left[y * 64u + 48u + k]), b, s3);
		}
		workgroupBarrier();
		if ((k0 + 16u) % CHUNK == 0u) {
			t0 = select(t0 + s0, s0, k0 < CHUNK);
			t1 = select(t1 + s1, s1, k0 < CHUNK);
			t2 = select(t2 + s2, s2, k0 < CHUNK);
			t3 = select(t3 + s3, s3, k0 < CHUNK);
			s0 = vec4<Acc>();
			s1 = vec4<Acc>();
			s2 = vec4<Acc>();
			s3 = vec4<Acc>();
		}
	}
	let done = (params.k + 15u) / 16u * 16u;
	if (done % CHUNK != 0u) {
		t0 = select(t0 + s0, s0, done < CHUNK);
		t1 = select(t1 + s1, s1, done < CHUNK);
		t2 = select(t2 + s2, s2, done < CHUNK);
		t3 = select(t3 + s3, s3, done < CHUNK);
	}
	let first = tile * 4096u;
	let row = c.y + y * 4u;
	let column = c.z + x;
	let m0 = norm_b(c.x, column);
	let m1 = norm_b(c.x, column + 16u);
	let m2 = norm_b(c.x, column + 32u);
	let m3 = norm_b(c.x, column + 48u);
	let n0 = norm_a(c.x, row + 0u);
	temp[first + 0u * 256u + lane] = finish(t0.x, n0, m0);
	temp[first + 1u * 256u + lane] = finish(t0.y, n0, m1);
	temp[first + 2u * 256u + lane] = finish(t0.z, n0, m2);
	temp[first + 3u * 256u + lane] = finish(t0.w, n0, m3);
	let n1 = norm_a(c.x, row + 1u);
	temp[first + 4u * 256u + lane] = finish(t1.x, n1, m0);
	temp[first + 5u * 256u + lane] = finish(t1.y, n1, m1);
	temp[first + 6u * 256u + lane] = finish(t1.z, n1, m2);
	temp[first + 7u * 256u + lane] = finish(t1.w, n1, m3);
	let n2 = norm_a(c.x, row + 2u);
	temp[first + 8u * 256u + lane] = finish(t2.x, n2, m0);
	temp[first + 9u * 256u + lane] = finish(t2.y, n2, m1);
	temp[first + 10u * 256u + lane] = finish(t2.z, n2, m2);
	temp[first + 11u * 256u + lane] = finish(t2.w, n2, m3);
	let n3 = norm_a(c.x, row + 3u);
	temp[first + 12u * 256u + lane] = finish(t3.x, n3, m0);
	temp[first + 13u * 256u + lane] = finish(t3.y, n3, m1);
	temp[first + 14u * 256u + lane] = finish(t3.z, n3, m2);
	temp[first + 15u * 256u + lane] = finish(t3.w, n3, m3);
}
