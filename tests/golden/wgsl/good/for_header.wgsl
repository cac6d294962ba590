// rules 1: PC2210@13 PC2210@14 PC2210@5 PC2211@13 PC2211@16 PC2211@16 PC2212@13 PC2212@15 PC2212@16 PC2218@11 PC2218@12 PC2218@17 PC2416@6
// What the consensus rules refuse in a header, WGSL takes.
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn first(n: u32) -> u32 {
	for (var k = n; ; k++) { if (k % 7u == 0u) { return k; } }
}
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	let i = gid.x;
	var s = 1u;
	for (; s < 9u; s++) {}
	for (let j = 4u; s > j; s--) {}
	for (s = 0u; ; ) { s++; if (s > i) { break; } }
	for (var k = 0u; s < 30u; k++) { s += k + 1u; }
	for (var k = 0u; k < 9u; k += s) { s = 0u; }
	for (var k = 0u; k < 9u; ) { k++; for (var j = 0u; j < 2u; j++) { k += 1u; } }
	for (var x = 0.0; x < 9.0; x += 1.0) { s++; }
	out[i] = s + first(i);
}
