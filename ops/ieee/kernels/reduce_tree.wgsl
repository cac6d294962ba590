// The tree over each run of 2048 elements: eleven levels of neighbours, three in an invocation, eight in workgroup memory. A
// run that the end cuts off is filled up with what changes nothing, so that an odd last element goes up as it is. What T,
// combine and filler are stands in front of this text.
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

fn pair(i: u32) -> T {
	return combine(element(i), element(i + 1u));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let lane = lid.x;
	let first = group * 2048u + lane * 8u;
	ping[lane] = combine(combine(pair(first), pair(first + 2u)), combine(pair(first + 4u), pair(first + 6u)));
	workgroupBarrier();
	for (var level = 0u; level < 4u; level++) {
		let width = 128u >> (2u * level);
		if (lane < width) {
			pong[lane] = combine(ping[2u * lane], ping[2u * lane + 1u]);
		}
		workgroupBarrier();
		if (lane < (width >> 1u)) {
			ping[lane] = combine(pong[2u * lane], pong[2u * lane + 1u]);
		}
		workgroupBarrier();
	}
	if (lane == 0u) {
		if (group * 2048u < params.n) {
			y[group] = ping[0];
		}
	}
}
