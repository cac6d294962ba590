// expect: PC2221@5 PC2221@6 PC2221@7
var<private> a: i64;
@compute @workgroup_size(64)
fn main() {
	let x = f32(a);
	let y = u64(1.5);
	let z = vec2<i64>(vec2f(1));
}
