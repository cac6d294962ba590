//# max dispatch = 1,1,1
// Control words that a job is fed with: the first instance whose precision_mode is not 0, with its bits, and the first that is not active in a
// program that skips nothing; all ones where there is none.
override n: u32 = 1u;
override skipping: u32 = 0u;
@group(0) @binding(0) var<storage, read> control: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> found: array<u32, 3>;

@compute @workgroup_size(1)
fn main() {
	var unlike = 0xffffffffu;
	var bits = 0u;
	var idle = 0xffffffffu;
	for (var i = 0u; i < n; i++) {
		let words = control[i];
		if (unlike == 0xffffffffu && (words.z << 1u) != 0u) {
			unlike = i;
			bits = words.z;
		}
		if (idle == 0xffffffffu && skipping == 0u && (words.w << 1u) == 0u) {
			idle = i;
		}
	}
	found[0] = unlike;
	found[1] = bits;
	found[2] = idle;
}
