// expect: PC2407@2 PC2407@3 PC2407@4 PC2407@5 PC2407@6 PC2407@7 PC2407@8 PC2407@9 PC2407@10 PC2407@11 PC2407@12 PC2407@15 PC2407@16
const a = 9223372036854775807 + 1;
const b: i32 = 2147483648;
const c: i32 = 2147483647 + 1;
const d: u32 = 3 - 4;
const e = u32(-1);
const f = (-2147483647i - 1i) / -1i;
const g: u32 = -1;
const h: u32 = 65536 * 65536;
const k = 1i << 31u;
const l: u64 = 4294967296 * 4294967296;
const m = 3 * 3074457345618258603;
@compute @workgroup_size(64)
fn main() {
	let x = 4294967296;
	let y = vec2u(1, -1);
	let z = a + 1;
}
