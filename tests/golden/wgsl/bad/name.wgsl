// expect: PC2107@2 PC2107@3 PC2107@6
const __x = 1;
const typedef = 1;
@compute @workgroup_size(64)
fn main() {
	let where = 1;
	let _a = where;
}
