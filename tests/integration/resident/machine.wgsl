// What runs is found in the data: instance 0 looks at a number and says who runs, 1 halves it, 2 takes 3 n + 1, 3 keeps the largest.
@group(0) @binding(3) var<storage, read_write> globals: array<u32>;
@group(0) @binding(4) var<storage, read_write> control: array<vec4<f32>>;

// The machine's own globals lie behind 64 words of its head, statistics and throughput.
const STATE = 64u;

@compute @workgroup_size(1)
fn decide() {
	let n = globals[STATE];
	let idle = n <= 1u;
	let odd = (n & 1u) == 1u;
	control[1].w = select(0.0, 1.0, !idle && !odd);
	control[2].w = select(0.0, 1.0, !idle && odd);
	globals[STATE + 2u] += 1u;
}

@compute @workgroup_size(1)
fn halve() {
	globals[STATE] = globals[STATE] / 2u;
	globals[STATE + 1u] += 1u;
}

@compute @workgroup_size(1)
fn triple() {
	globals[STATE] = 3u * globals[STATE] + 1u;
	globals[STATE + 1u] += 1u;
}

@compute @workgroup_size(1)
fn note() {
	globals[STATE + 3u] = max(globals[STATE + 3u], globals[STATE]);
}
