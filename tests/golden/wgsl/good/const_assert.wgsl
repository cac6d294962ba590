const N = 4;
const_assert N > 3;
@compute @workgroup_size(64)
fn main() {
	const_assert true;
}
