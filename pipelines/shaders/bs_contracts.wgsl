//# max dispatch = 65535,1,1
// A table of option contracts to price: parameters spread over their ranges by Philox4x32-10, one counter a contract.
override seed : u32 = 7u;

struct Contract {
	spot : f32,
	strike : f32,
	years : f32,
	volatility : f32,
}

@group(0) @binding(0) var<storage, read_write> contracts : array<Contract>;

fn wide(a : u32, b : u32) -> vec2<u32> {
	let a0 = a & 0xffffu;
	let a1 = a >> 16u;
	let b0 = b & 0xffffu;
	let b1 = b >> 16u;
	let middle = a1 * b0 + ((a0 * b0) >> 16u);
	let carry = a0 * b1 + (middle & 0xffffu);
	return vec2<u32>(a * b, a1 * b1 + (middle >> 16u) + (carry >> 16u));
}

fn philox(start : vec4<u32>) -> vec4<u32> {
	var c = start;
	var k0 = seed;
	var k1 = 0u;
	for (var round = 0u; round < 10u; round++) {
		let p = wide(0xd2511f53u, c.x);
		let q = wide(0xcd9e8d57u, c.z);
		c = vec4<u32>(q.y ^ c.y ^ k0, q.x, p.y ^ c.w ^ k1, p.x);
		k0 += 0x9e3779b9u;
		k1 += 0xbb67ae85u;
	}
	return c;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
	if (id.x < arrayLength(&contracts)) {
		let w = philox(vec4<u32>(id.x, 0u, 0u, 0u));
		let u = (vec4<f32>(w >> vec4<u32>(9u)) + 0.5) * 0x1p-23;
		contracts[id.x] = Contract(50.0 + 100.0 * u.x, 50.0 + 100.0 * u.y, 0.05 + 2.0 * u.z, 0.05 + 0.55 * u.w);
	}
}
