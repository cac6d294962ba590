// Words 0 to 22 of the buffer after a dispatch of one workgroup, worked out in Python:
// 7 0 2147483648 2 102 339 351 363 1231 3 5 5351 5 4294967289 92307455 4294840467 192 61455 81 32 31 4294967295 2
@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;
override W = 4u;
const T = array(10u, 20u, 30u, 40u);
var<private> hits: u32 = 100u;
fn bump(x: bool) -> bool { hits += 1u; return x; }
fn mat(i: u32) -> i32 {
	let m = mat2x3<i32>(1, 2, 3, 4, 5, 6);
	let t = transpose(m);
	return (m * vec2(10, 1))[i] + (vec3(1, 10, 100) * m).x + t[i].y;
}
fn sw(x: i32) -> u32 {
	switch x { case -1, 5 { return 1u; } case 2: { if x == 2 { break; } return 9u; } default { return 3u; } }
	return 2u;
}
fn cell(k: u32) -> u32 { var acc = 0u; for (var i = 0u; i < 10u && T[i % 4u] != k; i++) { if i == 2u { continue; } acc += i + 1u; } return acc; }
@compute @workgroup_size(1)
fn main() {
	var z = 0u;
	o[0] = 7u / z;
	o[1] = 7u % z;
	o[2] = bitcast<u32>((-2147483647i - 1i) / bitcast<i32>(z - 1u));
	o[3] = 1u << (33u + z);
	if (bump(false) && bump(true)) || bump(true) { o[4] = hits; }
	for (var i = 0u; i < 3u; i++) { o[5u + i] = bitcast<u32>(mat(i)); }
	o[8] = sw(-1) * 1000u + sw(2) * 100u + sw(7) * 10u + sw(5);
	o[9] = cell(40u);
	o[10] = o[z + 100u] + 5u;
	o[z + 200u] = 1u;
	var v = vec4(1u, 2u, 3u, 4u);
	v = v.wzyx; v.y += 10u; v[z + 2u] = 50u;
	o[11] = v.x * 1000u + v.y * 100u + v.z + v.w;
	let p = &o[12u + z];
	z = 5u;
	*p = z;
	z = 0u;
	o[13] = u32(i64(-5 + i32(z)) * 3li / 2li);
	o[14] = pack4xI8Clamp(vec4(-1, 200, -200, 5) + vec4(i32(z)));
	let u = unpack4xI8(0x80ff7f01u + z);
	o[15] = bitcast<u32>(u.x + u.y * 10 + u.z * 100 + u.w * 1000);
	o[16] = select(W, 2u, z > 0u) + extractBits(0xabcdu + z, 4u, 8u);
	o[17] = insertBits(0xffffu, z, 4u, 8u);
	var arr: array<array<u32, 3>, 2>;
	arr[1][z + 2u] = 8u; arr[z][7u - 5u] = 1u;
	let copy = arr;
	o[18] = copy[1u - z][2u + z] * 10u + arr[z][2] + arr[z + 1u][z + 3u];
	o[19] = dot(vec3(1u, 2u, 3u) + z, vec3(4u, 5u, 6u));
	o[20] = firstLeadingBit(z) + 1u + countLeadingZeros(z + 1u);
	o[21] = z - 1u;
	if hits == 102u { let s = 1u; { let s2 = s + 1u; o[22] = s2; } }
}
