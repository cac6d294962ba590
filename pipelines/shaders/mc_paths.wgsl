//# max dispatch = 65535,1,1
// Payoffs of a European call under geometric Brownian motion, one normal number a path. Numbers come from Philox4x32-10
// (Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3; SC11) by counter, so a path's number depends on its
// index and the seed alone; normals by Box and Muller. Four paths an invocation, since a call of Philox gives four words.
override seed : u32 = 2026u;
override spot : f32 = 100.0;
override strike : f32 = 105.0;
override rate : f32 = 0.03;
override volatility : f32 = 0.2;
override years : f32 = 1.0;

@group(0) @binding(0) var<storage, read_write> payoffs : array<f32>;
@group(0) @binding(1) var<storage, read_write> squares : array<f32>;

const TWO_PI = 6.283185307179586;

// The 64-bit product of two words, low word first.
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

// 23 bits, in the middle of their step: never 0, never 1, and exact.
fn uniform_of(word : u32) -> f32 {
	return (f32(word >> 9u) + 0.5) * 0x1p-23;
}

fn payoff(normal : f32) -> f32 {
	let drift = (rate - 0.5 * volatility * volatility) * years;
	let end = spot * exp(drift + volatility * sqrt(years) * normal);
	return max(end - strike, 0.0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
	let n = arrayLength(&payoffs);
	let words = philox(vec4<u32>(id.x, 0u, 0u, 0u));
	let r0 = sqrt(-2.0 * log(uniform_of(words.x)));
	let r1 = sqrt(-2.0 * log(uniform_of(words.z)));
	let t0 = TWO_PI * uniform_of(words.y);
	let t1 = TWO_PI * uniform_of(words.w);
	let normals = vec4<f32>(r0 * cos(t0), r0 * sin(t0), r1 * cos(t1), r1 * sin(t1));
	for (var k = 0u; k < 4u; k++) {
		let i = id.x * 4u + k;
		if (i < n) {
			let p = payoff(normals[k]);
			payoffs[i] = p;
			squares[i] = p * p;
		}
	}
}
