fn f(x: f32) { }
fn mulHigh(x: u32, y: u32) -> u32 { return ((x >> 16u) * (y >> 16u)); }
@compute @workgroup_size(64)
fn main() {
	let x = mulHigh(1u, 2u);
	let y = 1.5f;
	f(y);
}
