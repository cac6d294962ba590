//# max dispatch = 1,1,1
// Loop 2 of the regulator (SEMANTICS.md 9.7): what the norm of an outbox says, in this order.
override act: bool = false;
override n_embd: u32 = 0u;
override epsilon: f32 = 0.0;
struct Params { layer_idx: u32, n_embd: u32, width: u32, instances: u32 }
// Behind the four words at the head of the globals: target, mean, count and drift of every instance.
struct Head { position: vec4<u32>, statistics: array<vec4<f32>> }
@group(0) @binding(0) var<storage, read_write> outbox: array<f32>;
@group(0) @binding(1) var<storage, read_write> metrics: array<f32, 6>;
@group(0) @binding(2) var<storage, read_write> head: Head;
@group(0) @binding(3) var<storage, read_write> control: array<vec4<f32>>;
@group(1) @binding(0) var<uniform> p: Params;

const LARGEST: f32 = 3.40282346638528859812e+38;
const MOST_SCALE: f32 = 65536.0;
const MOST_COUNT: f32 = 16777216.0;

@compute @workgroup_size(1)
fn main() {
	let norm = metrics[0];
	let was = head.statistics[p.layer_idx];
	var goal = 0.0;
	if (was.x > 0.0) {
		goal = was.x;
	} else if (was.z > 0.0) {
		goal = was.y;
	}
	var scale = 1.0;
	var anomaly = 0.0;
	if (!(norm <= LARGEST)) {
		anomaly = 1.0;
	} else if (goal > 0.0 && norm > 2.0 * goal) {
		anomaly = 1.0;
		scale = goal / norm;
	} else if (norm < epsilon) {
		anomaly = 1.0;
		if (goal > 0.0 && norm > 0.0) {
			scale = min(goal / norm, MOST_SCALE);
		}
	} else {
		let count = min(was.z + 1.0, MOST_COUNT);
		let mean = was.y + (norm - was.y) / count;
		var drift = 0.0;
		if (was.x > 0.0) {
			drift = mean - was.x;
		}
		head.statistics[p.layer_idx] = vec4<f32>(was.x, mean, count, drift);
	}
	metrics[5] = anomaly;
	outbox[n_embd] = norm;
	outbox[n_embd + 1u] = metrics[1];
	outbox[n_embd + 2u] = 0.0;
	outbox[n_embd + 3u] = anomaly;
	if (p.layer_idx + 1u < p.instances) {
		var next = control[p.layer_idx + 1u];
		next.x = select(1.0, scale, act);
		control[p.layer_idx + 1u] = next;
	}
}
