var<private> a: i64;
@compute @workgroup_size(64)
fn main() {
	let x = f32(i32(a));
	let y = u64(u32(1.5));
	let z = vec2<i64>(vec2i(vec2f(1)));
	a = a + i64(x > 1) + i64(y) + z.x + i64(7);
}
