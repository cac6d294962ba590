const _x = 1;
const typed = 1;
const größe = 2;
@compute @workgroup_size(64)
fn main() {
	let place = größe;
	let _a = place;
}
