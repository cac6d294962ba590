//# max dispatch = 1,1,1
// All prefix sums of at most 8192 elements in one workgroup, in rounds of 1024: loaded and stored in rows of 256,
// turned in workgroup memory so that an invocation adds up four neighbours, whose sums are scanned by doubling strides
// from `ping` to `pong` and back, so that no interval between barriers reads what it writes.
struct Params {
	@size(4) n: u32,
	@size(4) exclusive: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u64>;
@group(0) @binding(2) var<storage, read_write> prefixes: array<u64>;

var<workgroup> tile: array<u64, 1024>;
var<workgroup> ping: array<u64, 256>;
var<workgroup> pong: array<u64, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_id) lid: vec3<u32>) {
	let lane = lid.x;
	var before = u64(0u); // the sum of the rounds before
	for (var round = 0u; round < 8u; round++) {
		let first = round * 1024u;
		if (first >= params.n) {
			break;
		}
		for (var i = 0u; i < 4u; i++) {
			var value = u64(0u);
			if (first + i * 256u + lane < params.n) {
				value = values[first + i * 256u + lane];
			}
			tile[i * 256u + lane] = value;
		}
		workgroupBarrier();
		let a = tile[lane * 4u];
		let b = a + tile[lane * 4u + 1u];
		let c = b + tile[lane * 4u + 2u];
		let d = c + tile[lane * 4u + 3u];
		ping[lane] = d;
		workgroupBarrier();
		for (var step = 0u; step < 4u; step++) {
			let reach = 1u << (2u * step);
			var sum = ping[lane];
			if (lane >= reach) {
				sum += ping[lane - reach];
			}
			pong[lane] = sum;
			workgroupBarrier();
			sum = pong[lane];
			if (lane >= 2u * reach) {
				sum += pong[lane - 2u * reach];
			}
			ping[lane] = sum;
			workgroupBarrier();
		}
		let offset = before + ping[lane] - d;
		before += ping[255];
		tile[lane * 4u] = offset + select(a, u64(0u), params.exclusive != 0u);
		tile[lane * 4u + 1u] = offset + select(b, a, params.exclusive != 0u);
		tile[lane * 4u + 2u] = offset + select(c, b, params.exclusive != 0u);
		tile[lane * 4u + 3u] = offset + select(d, c, params.exclusive != 0u);
		workgroupBarrier();
		for (var i = 0u; i < 4u; i++) {
			if (first + i * 256u + lane < params.n) {
				prefixes[first + i * 256u + lane] = tile[i * 256u + lane];
			}
		}
		workgroupBarrier();
	}
}
