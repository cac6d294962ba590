//# max dispatch = 65535,65535,1
// As gather, for devices that read and write best side by side: a workgroup owns 1024 chunks, loads and stores them in
// rows of 256, and turns them in workgroup memory so that an invocation adds up four neighbours.
struct Params {
	@size(4) chunks: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> chunks: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> contributions: array<u64>;
@group(0) @binding(3) var<storage, read_write> prefixes: array<u64>;
@group(0) @binding(4) var<storage, read_write> sums: array<u64>;

var<workgroup> tile: array<u64, 1024>;
var<workgroup> ping: array<u64, 256>;
var<workgroup> pong: array<u64, 256>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_id) lid: vec3<u32>) {
	let group = wid.y * 65535u + wid.x;
	let lane = lid.x;
	let first = group * 1024u;
	for (var i = 0u; i < 4u; i++) {
		var sum = u64(0u);
		if (first + i * 256u + lane < params.chunks) {
			let four = chunks[first + i * 256u + lane];
			sum = contributions[four.x] + contributions[four.y] + contributions[four.z] +
			      contributions[four.w];
		}
		tile[i * 256u + lane] = sum;
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
	let offset = ping[lane] - d;
	tile[lane * 4u] = offset + a;
	tile[lane * 4u + 1u] = offset + b;
	tile[lane * 4u + 2u] = offset + c;
	tile[lane * 4u + 3u] = offset + d;
	if (lane == 255u) {
		if (first < params.chunks) {
			sums[group] = offset + d;
		}
	}
	workgroupBarrier();
	for (var i = 0u; i < 4u; i++) {
		if (first + i * 256u + lane < params.chunks) {
			prefixes[first + i * 256u + lane] = tile[i * 256u + lane];
		}
	}
}
