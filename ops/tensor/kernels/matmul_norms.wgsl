// Of each vector that is multiplied, a row of a or a column of b: the sum of its squares, and how often two divides all of it, counted
// from 2^-149. Eight lanes share a vector and eight vectors a workgroup, so that 32 bytes are read together whichever way vectors
// lie in memory. All eight lanes write what they found. In front: `vectors`, `vector` (the first element of one), `stride`.
const NONE: u32 = 600u; // of zeros

var<workgroup> squares: array<f64, 64>;
var<workgroup> units: array<u32, 64>;

fn unit(bits: u32) -> u32 {
	let field = (bits >> 23u) & 255u;
	let m = (bits & 0x7fffffu) | select(0x800000u, 0u, field == 0u);
	return select(max(field, 1u) - 1u + countTrailingZeros(m), NONE, m == 0u);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let first = (group.y * 65535u + group.x) * 64u;
	let v = (first >> 3u) + (lane & 7u);
	var square = 0.0lf;
	var least = NONE;
	if (v < vectors()) {
		let at = vector(v);
		for (var i = 0u; i < steps; i++) {
			let k = i * 8u + (lane >> 3u);
			if (k >= params.k) {
				break;
			}
			let bits = a_bits(at + k * stride());
			let x = f64(bitcast<f32>(bits));
			square += x * x;
			least = min(least, unit(bits));
		}
	}
	squares[lane] = square;
	units[lane] = least;
	workgroupBarrier();
	square = 0.0lf;
	for (var i = 0u; i < 8u; i++) {
		square += squares[i * 8u + (lane & 7u)];
		least = min(least, units[i * 8u + (lane & 7u)]);
	}
	norms[first + lane] = vec2<f64>(square, f64(least));
}
