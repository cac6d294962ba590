// Of each packed vector: its Euclidean norm, how often two divides all of it, counted from 2^-149, and its norm where the square of a term counts as often as
// matmul_bound_matrix.wgsl asks. Workgroups of 256 take the eight vectors of a group; of its 256 entries of the result the first eight are norm and power, the next eight the
// counted norm. In front: `sharer` (which of a group's 1,024 words are a vector's), the packed layout.
const NONE: u32 = 600u; // of zeros

var<workgroup> squares: array<f64, 1024>;
var<workgroup> counted: array<f64, 1024>;
var<workgroup> units: array<u32, 1024>;

fn unit(bits: u32) -> u32 {
	let field = (bits >> 23u) & 255u;
	let m = (bits & 0x7fffffu) | select(0x800000u, 0u, field == 0u);
	return select(max(field, 1u) - 1u + countTrailingZeros(m), NONE, m == 0u);
}

fn square(bits: u32) -> f64 {
	let x = f64(bitcast<f32>(bits));
	return x * x;
}

// Of 128 terms, how many partial sums their squares are a part of at most: within a segment those behind in its first half, those before in its second.
fn count_of(step: u32) -> f64 {
	let part = step % (LOOK / 128u);
	let half = (min(steps_of_128() - (step - part), LOOK / 128u) + 1u) / 2u;
	return f64(min(128u * select(part + 1u - half, half - part, part < half), params.k));
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
	let eight = group.y * 65535u + group.x;
	let first = eight * steps_of_128() * 256u + lane;
	var sum = vec4<f64>();
	var often = vec4<f64>();
	var least = vec4<u32>(NONE);
	for (var i = 0u; i < steps; i++) {
		if (i >= steps_of_128()) {
			break;
		}
		let word = packed[first + i * 256u];
		let s = vec4<f64>(square(word.x), square(word.y), square(word.z), square(word.w));
		sum += s;
		often += s * count_of(i);
		least = min(least, vec4<u32>(unit(word.x), unit(word.y), unit(word.z), unit(word.w)));
	}
	squares[lane * 4u + 0u] = sum.x;
	counted[lane * 4u + 0u] = often.x;
	units[lane * 4u + 0u] = least.x;
	squares[lane * 4u + 1u] = sum.y;
	counted[lane * 4u + 1u] = often.y;
	units[lane * 4u + 1u] = least.y;
	squares[lane * 4u + 2u] = sum.z;
	counted[lane * 4u + 2u] = often.z;
	units[lane * 4u + 2u] = least.z;
	squares[lane * 4u + 3u] = sum.w;
	counted[lane * 4u + 3u] = often.w;
	units[lane * 4u + 3u] = least.w;
	workgroupBarrier();
	var total = 0.0lf;
	var total_often = 0.0lf;
	var all = NONE;
	for (var i = 0u; i < 4u; i++) {
		let at = sharer(lane & 7u, lane / 8u * 4u + i);
		total += squares[at];
		total_often += counted[at];
		all = min(all, units[at]);
	}
	workgroupBarrier();
	squares[lane] = total;
	counted[lane] = total_often;
	units[lane] = all;
	workgroupBarrier();
	total = 0.0lf;
	total_often = 0.0lf;
	for (var i = 0u; i < 32u; i++) {
		total += squares[i * 8u + (lane & 7u)];
		total_often += counted[i * 8u + (lane & 7u)];
		all = min(all, units[i * 8u + (lane & 7u)]);
	}
	norms[eight * 256u + lane] = select(vec2<f64>(sqrt(total), f64(all)), vec2<f64>(sqrt(total_often), 0.0lf), (lane & 8u) != 0u);
}
