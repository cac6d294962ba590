// expect: PC2214@5 PC2206@7 PC2204@9 PC2404@11 PC2113@13 PC2425@13
// What a compute entry point names is judged, and so is what nobody names but could be compute's; so is a stage where no
// function is wrong for compute.
struct V {
	@location(0) x: f32
}
fn kill() { discard; }
fn deep(v: V) -> f32 {
	return v.x + fwidth(1.0);
}
fn unused() -> u32 { return 1i; }
@compute @workgroup_size(1)
fn main(@location(0) a: u32) { kill(); _ = deep(V(1.0)); }
