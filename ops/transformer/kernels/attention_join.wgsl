// 64 elements of a line a workgroup, out of their parts: what is in doubt is settled by exact sums that all lanes share. In front: attention_settle.wgsl, within.wgsl, `rows`, `parts`, `out`.
override steps: u32; // no less than tiles and splits

var<workgroup> results: array<u32, 64>;
var<workgroup> settled: u32;
var<workgroup> doubted: atomic<u32>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32, @builtin(workgroup_id) wid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let item = group / CHUNKS;
	let shared_by = item / params.v[3].y;
	let r = item % params.v[3].y;
	let first = (shared_by * params.v[3].z + r / LINES) * params.v[4].w;
	let s = rows[item].y;
	var x = 0.0lf;
	var largest = 0.0lf;
	for (var i = 0u; i < steps; i++) {
		if (i >= params.v[4].w) {
			break;
		}
		let part = parts[(((first + i) * CHUNKS + group % CHUNKS) * LINES + r % LINES) * 64u + lane];
		x += part.x;
		largest = select(largest, part.y, part.y > largest);
	}
	// Weights add up to s, which was rounded.
	let most = f64(bitcast<f32>(s)) * largest * 0x1.00001p0lf;
	var bits = within(x, f64(params.v[5].y) * most * 0x1p-53lf, most);
	if (!(x - x == 0.0lf)) {
		bits = MARK;
	}
	results[lane] = select(bits, 0u, s == 0u);
	if (results[lane] == MARK) {
		atomicOr(&doubted, 1u);
	}
	workgroupBarrier();
	if (lane == 0u) {
		settled = atomicLoad(&doubted);
	}
	if (workgroupUniformLoad(&settled) != 0u) {
		for (var i = 0u; i < 64u; i++) {
			if (workgroupUniformLoad(&results[i]) == MARK) {
				settle(shared_by, r, group % CHUNKS * 64u + i, lane);
				if (lane == 0u) {
					settled = sum_round();
				}
				let exact = workgroupUniformLoad(&settled);
				if (lane == i) {
					bits = exact;
				}
			}
		}
	}
	out[group * 64u + lane] = divided(bits, s);
}
