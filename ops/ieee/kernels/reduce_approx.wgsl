// Runs of 8192 elements: an invocation takes every 256th in turn, the workgroup combines the 256 totals. What T, combine and
// filler are stands in front of this text.
struct Params {
	@size(4) n: u32, // 2 or more
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

var<workgroup> ping: array<T, 256>;
var<workgroup> pong: array<T, 128>;

fn element(i: u32) -> T {
	var value = x[min(i, params.n - 1u)];
	if (i >= params.n) {
		value = filler(value);
	}
	return value;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let lane = lid.x;
	let first = group * 8192u + lane;
	var total = element(first);
	for (var i = 1u; i < 32u; i++) {
		if (first + i * 256u >= params.n) {
			break;
		}
		total = combine(total, x[first + i * 256u]);
	}
	ping[lane] = total;
	workgroupBarrier();
	for (var level = 0u; level < 4u; level++) {
		let width = 128u >> (2u * level);
		if (lane < width) {
			pong[lane] = combine(ping[lane], ping[lane + width]);
		}
		workgroupBarrier();
		if (lane < (width >> 1u)) {
			ping[lane] = combine(pong[lane], pong[lane + (width >> 1u)]);
		}
		workgroupBarrier();
	}
	if (lane == 0u) {
		if (group * 8192u < params.n) {
			y[group] = ping[0];
		}
	}
}
