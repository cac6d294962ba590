// y = a x + b of two tables, as often as the uniform says.
struct Options {
	@align(4) @size(4) a: u32,
	@align(4) @size(4) b: u32,
	@align(4) @size(4) rounds: u32,
}
@group(0) @binding(0) var<storage, read> left: array<u32>;
@group(0) @binding(1) var<uniform> options: Options;
@group(0) @binding(2) var<storage, read> right: array<u32>;
@group(1) @binding(0) var<storage, read_write> sums: array<u32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < arrayLength(&sums)) {
		var x = left[id.x % max(arrayLength(&left), 1u)];
		for (var i = 0u; i < min(options.rounds, 8u); i++) {
			x = options.a * x + options.b + right[(id.x + i) % max(arrayLength(&right), 1u)];
		}
		sums[id.x] = x;
	}
}
