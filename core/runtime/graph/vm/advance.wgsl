//# max dispatch = 1,1,1
// Behind the last instance: the position counter goes on.
override by: u32 = 1u;
@group(0) @binding(0) var<storage, read_write> position: array<u32, 4>;

@compute @workgroup_size(1)
fn main() {
	position[0] += by;
}
