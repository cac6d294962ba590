// What an instance is given, its inbox (instance 0: R0), times its scale factor, into R1.
override n_embd: u32 = 1u;
override width: u32 = 64u;
override from_register: u32 = 31u;
struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }
@group(0) @binding(0) var<storage, read_write> registers: array<f32>;
@group(0) @binding(4) var<storage, read> control: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
	if (id.x < n_embd) {
		registers[width + id.x] = registers[from_register * width + id.x] * control[p.layer_idx].x;
	}
}
