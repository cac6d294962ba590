// Element after element onto the total, which starts as element 0; at most `run` a dispatch. What T and combine are stands in
// front of this text.
override run: u32;

struct Params {
	@size(4) first: u32, // 1 or more
	@size(4) end: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;

@compute @workgroup_size(1)
fn main() {
	var total = y[0];
	if (params.first == 1u) {
		total = x[0];
	}
	for (var i = 0u; i < run; i++) {
		let at = params.first + i;
		if (at >= params.end) {
			break;
		}
		total = combine(total, x[at]);
	}
	y[0] = total;
}
