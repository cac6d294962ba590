// y[i] = x[i] + amount, wrapping. A line of more than 65535 workgroups is folded into y.
struct Params {
	amount: u32,
	width: u32, // invocations of a row of workgroups
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	let i = id.x + id.y * params.width;
	if (i < arrayLength(&y)) {
		y[i] = x[i] + params.amount;
	}
}
