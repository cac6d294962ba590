//# max dispatch = 1,1,1
// Metrics of an outbox: the norm of its data, from the exact sum of the squares rounded once, and the largest magnitude. The sum
// is an integer of 16-bit digits, each in a word of its own: 65532 terms of at most 65535 fit, in any order.
override n_embd: u32 = 1u;
struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }
@group(0) @binding(0) var<storage, read> outbox: array<u32>;
@group(0) @binding(1) var<storage, read_write> metrics: array<f32, 6>;
@group(1) @binding(0) var<uniform> p: Params;

const DIGITS = 40u;
var<workgroup> digits: array<atomic<u32>, 40>;
var<workgroup> largest: atomic<u32>;
var<workgroup> infinite: atomic<u32>;
var<workgroup> no_number: atomic<u32>;

// m * m as three digits of 16 bits, shifted up by less than a digit: four digits.
fn square(m: u32, shift: u32) -> vec4<u32> {
	let low = m & 0xffffu;
	let high = m >> 16u;
	let ll = low * low;
	let lh = 2u * low * high;
	let t1 = (ll >> 16u) + (lh & 0xffffu);
	let t2 = (t1 >> 16u) + (lh >> 16u) + high * high;
	let v0 = (ll & 0xffffu) << shift;
	let v1 = ((t1 & 0xffffu) << shift) | (v0 >> 16u);
	let v2 = (t2 << shift) | (v1 >> 16u);
	return vec4<u32>(v0 & 0xffffu, v1 & 0xffffu, v2 & 0xffffu, v2 >> 16u);
}

// A sum in units of 2^-298, carried, as the nearest f32, ties to even.
fn rounded(d: ptr<function, array<u32, 40>>) -> u32 {
	var top = 0u;
	for (var i = 0u; i < DIGITS; i++) {
		if ((*d)[i] != 0u) {
			top = i * 16u + 31u - countLeadingZeros((*d)[i]);
		}
	}
	// The unit of the result: 23 places below the leading bit, and never below the smallest subnormal.
	let unit = max(max(top, 23u) - 23u, 149u);
	let at = unit / 16u;
	let by = unit % 16u;
	let third = select((*d)[min(at + 2u, 39u)] << ((32u - by) & 31u), 0u, by == 0u);
	var bits = ((*d)[min(at, 39u)] >> by) | ((*d)[min(at + 1u, 39u)] << (16u - by)) | third;
	let half = unit - 1u;
	let is_half = ((*d)[min(half / 16u, 39u)] >> (half % 16u)) & 1u;
	var below = (*d)[min(half / 16u, 39u)] & ((1u << (half % 16u)) - 1u);
	for (var i = 0u; i < DIGITS; i++) {
		if (i < half / 16u) {
			below |= (*d)[i];
		}
	}
	if (is_half == 1u && (below != 0u || (bits & 1u) == 1u)) {
		bits += 1u;
	}
	return min(bits + ((unit - 149u) << 23u), 0x7f800000u);
}

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) lane: u32) {
	for (var i = lane; i < n_embd; i += 256u) {
		let x = outbox[i] & 0x7fffffffu;
		let exponent = x >> 23u;
		if (x > 0x7f800000u) {
			atomicOr(&no_number, 1u);
		} else {
			atomicMax(&largest, x);
			if (x == 0x7f800000u) {
				atomicOr(&infinite, 1u);
			} else if (x != 0u) {
				let m = (x & 0x7fffffu) | select(0u, 0x800000u, exponent != 0u);
				let place = 2u * (max(exponent, 1u) - 1u);
				let s = square(m, place % 16u);
				let at = place / 16u;
				atomicAdd(&digits[min(at, 36u)], s.x);
				atomicAdd(&digits[min(at + 1u, 37u)], s.y);
				atomicAdd(&digits[min(at + 2u, 38u)], s.z);
				atomicAdd(&digits[min(at + 3u, 39u)], s.w);
			}
		}
	}
	workgroupBarrier();
	if (lane == 0u) {
		var d: array<u32, 40>;
		var carry = 0u;
		for (var i = 0u; i < DIGITS; i++) {
			let digit = atomicLoad(&digits[i]);
			let sum = (digit & 0xffffu) + carry;
			d[i] = sum & 0xffffu;
			carry = (digit >> 16u) + (sum >> 16u);
		}
		var sum_bits = rounded(&d);
		if (atomicLoad(&infinite) != 0u) {
			sum_bits = 0x7f800000u;
		}
		if (atomicLoad(&no_number) != 0u) {
			sum_bits = 0x7fc00000u;
		}
		metrics[0] = sqrt(bitcast<f32>(sum_bits));
		metrics[1] = bitcast<f32>(atomicLoad(&largest));
		metrics[2] = 0.0;
		metrics[3] = 0.0;
		metrics[4] = f32(p.layer_idx);
		metrics[5] = 0.0;
	}
}
