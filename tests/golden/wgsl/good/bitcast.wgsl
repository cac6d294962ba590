// rules 1: PC2407@4 PC2407@5 PC2407@6
@compute @workgroup_size(64)
fn main() {
	const_assert bitcast<u32>(4294967295) == 4294967295u;
	const_assert bitcast<i32>(4294967295) == -1i;
	const_assert all(bitcast<vec2u>(vec2(1, 4294967295)) == vec2u(1, 4294967295));
	const_assert bitcast<u32>(-1) == 4294967295u;
	const_assert bitcast<i32>(2147483647) == 2147483647i;
}
