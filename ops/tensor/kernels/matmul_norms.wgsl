// Of each vector that is multiplied, a row of a or a column of b: its Euclidean norm, and how often two divides all of it, counted
// from 2^-149. Eight vectors share a workgroup of NORMS invocations, so that 32 bytes are read together whichever way vectors lie in memory, and
// four reads of an invocation are under way at once. All lanes write what they found. In front: NORMS, `vectors`, `vector` (the first element of one), `stride`.
const NONE: u32 = 600u; // of zeros
const SHARERS: u32 = NORMS / 8u;

var<workgroup> squares: array<f64, NORMS>;
var<workgroup> units: array<u32, NORMS>;

fn unit(bits: u32) -> u32 {
	let field = (bits >> 23u) & 255u;
	let m = (bits & 0x7fffffu) | select(0x800000u, 0u, field == 0u);
	return select(max(field, 1u) - 1u + countTrailingZeros(m), NONE, m == 0u);
}

// Of term k, or 0 past the end.
fn term(at: u32, k: u32) -> u32 {
	let bits = a_bits(at + min(k, params.k - 1u) * stride());
	return select(0u, bits, k < params.k);
}

fn square(bits: u32) -> f64 {
	let x = f64(bitcast<f32>(bits));
	return x * x;
}

@compute @workgroup_size(NORMS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let first = (group.y * 65535u + group.x) * NORMS;
	let v = first / SHARERS + (lane & 7u);
	var sum = 0.0lf;
	var least = NONE;
	if (v < vectors()) {
		let at = vector(v);
		for (var i = 0u; i < steps; i++) {
			let k = i * 4u * SHARERS + (lane >> 3u);
			if (k >= params.k) {
				break;
			}
			let b0 = term(at, k);
			let b1 = term(at, k + SHARERS);
			let b2 = term(at, k + 2u * SHARERS);
			let b3 = term(at, k + 3u * SHARERS);
			sum += (square(b0) + square(b1)) + (square(b2) + square(b3));
			least = min(least, min(min(unit(b0), unit(b1)), min(unit(b2), unit(b3))));
		}
	}
	squares[lane] = sum;
	units[lane] = least;
	workgroupBarrier();
	sum = 0.0lf;
	for (var i = 0u; i < SHARERS; i++) {
		sum += squares[i * 8u + (lane & 7u)];
		least = min(least, units[i * 8u + (lane & 7u)]);
	}
	norms[first + lane] = vec2<f64>(sqrt(sum), f64(least));
}
