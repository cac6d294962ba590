// expect: PC2210@7 PC2210@8 PC2416@4 PC2404@9
// rules 1: PC2210@4 PC2210@7 PC2210@8 PC2218@7 PC2218@9 PC2404@9 PC2416@4
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
fn first(n: u32) -> u32 { for (var k = n; ; k++) { if (k % 7u == 0u) { break; } } }
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) gid: vec3<u32>) {
	for (;;) {}
	for (var k = 0u; ; k++) { continue; }
	for (; 1u; ) { break; }
}
