const a = 9223372036854775806 + 1;
const b: i32 = 2147483647;
const c = 2147483646i + 1i;
const d = 4u - 4u;
const e = u32(-1i);
const f = (-2147483647i - 1i) / 1i;
const g: i32 = -1;
const h = 65535u * 65537u;
const k = 1u << 31u;
const l = 4294967295lu * 4294967297lu;
const_assert l == 18446744073709551615lu;
const_assert e == 4294967295;
const m = 3 * 3074457345618258602;
@compute @workgroup_size(64)
fn main() {
	let x = 4294967295u;
	let w: i64 = 4294967296;
	let y = vec2u(1, 1);
}
