//# max dispatch = 65535,1,1
//# max params.declared = 100
// Every form of loop with a bound, each counting its turns: literals, an override, min() of a uniform, a uniform with a
// declared maximum, steps, shifts, going down, left early, not entered, and nested.
override WG: u32 = 64;

struct Params {
	n: u32,
	declared: u32,
	depth: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> limits: array<u32>;
@group(0) @binding(2) var<storage, read_write> turns: array<array<u32, 12>>;

@compute @workgroup_size(WG)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let limit = limits[gid.x];
	var t = array<u32, 12>();
	for (var i = 0u; i < 1000u; i++) {
		t[0]++;
	}
	for (var i = 0u; i < WG; i++) {
		t[1]++;
	}
	for (var i = 0u; i < min(params.n, 64u); i++) {
		t[2]++;
	}
	for (var i = 0u; i < params.declared; i++) {
		t[3]++;
	}
	for (var i = 5u; i < 100u; i += 3u) {
		t[4]++;
	}
	for (var i = 1u; i < 4096u; i <<= 1u) {
		t[5]++;
	}
	for (var i = 70i; i > -30i; i -= 7i) {
		t[6]++;
	}
	for (var i = 0u; i < 200u && i < limit; i++) {
		t[7]++;
	}
	for (var i = 0u; i < 200u; i++) {
		if (i >= limit) {
			break;
		}
		if (i % 3u == 1u) {
			continue;
		}
		t[8]++;
	}
	for (var i = 9u; i < 9u; i++) {
		t[9]++;
	}
	for (var i = 0u; i < min(params.depth, 6u); i++) {
		for (var j = 0u; j < 5u; j++) {
			for (var k = 0u; k < 7u && k < j + i; k++) {
				t[10]++;
			}
		}
	}
	for (var i = 0x80000000u; i > 0u; i >>= 1u) {
		t[11]++;
	}
	turns[gid.x] = t;
}
