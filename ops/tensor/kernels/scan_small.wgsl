// All prefix sums of at most 8192 elements in one workgroup: each invocation owns a run of 32, the runs' sums
// are scanned by doubling strides from `ping` to `pong` and back, so that no interval reads what it writes.
struct Params {
	@size(4) n: u32,
	@size(4) exclusive: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> values: array<u64>;
@group(0) @binding(2) var<storage, read_write> prefixes: array<u64>;

var<workgroup> ping: array<u64, 256>;
var<workgroup> pong: array<u64, 256>;

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_id) lid: vec3<u32>) {
	let lane = lid.x;
	let first = lane * 32u;
	var run = u64(0u);
	for (var i = 0u; i < 32u; i++) {
		if (first + i < params.n) {
			run += values[first + i];
		}
	}
	ping[lane] = run;
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
	var sum = ping[lane] - run;
	for (var i = 0u; i < 32u; i++) {
		if (first + i < params.n) {
			let before = sum;
			sum += values[first + i];
			prefixes[first + i] = select(sum, before, params.exclusive != 0u);
		}
	}
}
