// expect: PC2411@3 PC2411@6
const N = 4;
const_assert N > 4;
@compute @workgroup_size(64)
fn main() {
	const_assert false;
}
