// Prefix sums of rows by f64, a tile of a quad a lane at a time: sixteen lanes' sums are put in front of each other by one of them, those of the
// sixteens by each lane. A row of which f64 does not tell every prefix is marked. In front: within.wgsl, `quad_of` (a quad in the order of summation), EXCLUSIVE,
// `turned`, the row's constants.
override steps: u32; // tiles of a row or more

var<workgroup> lanes: array<vec2<f64>, LANES>;
var<workgroup> fronts: array<vec2<f64>, LANES>;
var<workgroup> lows: array<u32, LANES>;
var<workgroup> sixteens: array<vec2<f64>, FEW>;
var<workgroup> sixteen_lows: array<u32, FEW>;

@compute @workgroup_size(LANES)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let row = wid.y * 65535u + wid.x;
	let quads = row_quads();
	let first = row * quads;
	var before = vec2<f64>(); // sum and magnitudes of the tiles in front
	var least = 0xffffffffu; // bits of the least magnitude so far, less 1
	var doubt = 0u;
	for (var j = 0u; j < steps; j++) {
		let q = j * LANES + lane;
		let there = row < params.count && q < quads;
		let bits = select(vec4<u32>(), quad_of(first, min(q, quads - 1u)), there);
		let x = vec4<f64>(f64(bitcast<f32>(bits.x)), f64(bitcast<f32>(bits.y)), f64(bitcast<f32>(bits.z)), f64(bitcast<f32>(bits.w)));
		let sizes = (bits & vec4<u32>(0x7fffffffu)) - vec4<u32>(1u);
		lanes[lane] = vec2<f64>((x.x + x.y) + (x.z + x.w), (abs(x.x) + abs(x.y)) + (abs(x.z) + abs(x.w)));
		lows[lane] = min(min(sizes.x, sizes.y), min(sizes.z, sizes.w));
		workgroupBarrier();
		if (lane < FEW) {
			var run = vec2<f64>();
			var low = 0xffffffffu;
			for (var k = 0u; k < 16u; k++) {
				fronts[lane * 16u + k] = run;
				run += lanes[lane * 16u + k];
				low = min(low, lows[lane * 16u + k]);
			}
			sixteens[lane] = run;
			sixteen_lows[lane] = low;
		}
		workgroupBarrier();
		var front = vec2<f64>();
		var tile = vec2<f64>();
		for (var k = 0u; k < FEW; k++) {
			if (k == lane / 16u) {
				front = tile;
			}
			tile += sixteens[k];
			least = min(least, sixteen_lows[k]);
		}
		front = before + (front + fronts[lane]);
		before += tile;
		// As moments_judge.wgsl: with all magnitudes of the tiles so far.
		let field = select(i32(max((least + 1u) >> 23u, 1u)), 600i, least == 0xffffffffu);
		let most = before.y * 0x1.00001p0lf;
		let fits = most <= bitcast<f64>(u64(1023 + 53 - 150 + field) << 52u);
		let e = select(f64(params.depth) * most * 0x1p-53lf * 0x1.00001p0lf, 0.0lf, fits);
		let p1 = front.x + x.x;
		let p2 = p1 + x.y;
		let p3 = p2 + x.z;
		let p4 = p3 + x.w;
		let y4 = select(vec4<f64>(p1, p2, p3, p4), vec4<f64>(front.x, p1, p2, p3), EXCLUSIVE);
		let out = vec4<u32>(within(y4.x, e, before.y), within(y4.y, e, before.y), within(y4.z, e, before.y), within(y4.w, e, before.y));
		if (there) {
			doubt |= u32(any(out == vec4<u32>(MARK)));
			y[first + turned(q, quads)] = pack4(turned4(out));
		}
	}
	lows[lane] = doubt;
	workgroupBarrier();
	if (lane < FEW) {
		var any_of = 0u;
		for (var k = 0u; k < 16u; k++) {
			any_of |= lows[lane * 16u + k];
		}
		sixteen_lows[lane] = any_of;
	}
	workgroupBarrier();
	if (lane == 0u && row < params.count) {
		var any_of = 0u;
		for (var k = 0u; k < FEW; k++) {
			any_of |= sixteen_lows[k];
		}
		marks[row] = any_of;
	}
}
