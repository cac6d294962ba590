// An agent over collatz numbers, one turn an execution: instance 0 looks at the state and says who runs, 1 halves, 2 takes 3 n + 1, 3
// writes down what became of it. The state lies in the globals: n, turns that were not idle, turns in all, the largest n.
const WIDTH = 64u;
@group(0) @binding(3) var<storage, read_write> globals: array<u32>;
@group(0) @binding(4) var<storage, read_write> control: array<vec4<f32>>;

// Behind four words of head, four statistics and a throughput word an instance, at the next multiple of 64 words.
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
