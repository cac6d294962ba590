//# max dispatch = 65535,1,1
// Black and Scholes: calls and puts of a table of contracts. The normal distribution function is formula 26.2.17 of
// Abramowitz and Stegun, whose own error is below 7.5e-8.
override rate : f32 = 0.02;

struct Contract {
	spot : f32,
	strike : f32,
	years : f32,
	volatility : f32,
}

@group(0) @binding(0) var<storage, read> contracts : array<Contract>;
@group(0) @binding(1) var<storage, read_write> calls : array<f32>;
@group(0) @binding(2) var<storage, read_write> puts : array<f32>;

fn normal_below(x : f32) -> f32 {
	let t = 1.0 / (1.0 + 0.2316419 * abs(x));
	let p = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
	let tail = 0.3989422804 * exp(-0.5 * x * x) * p;
	return select(tail, 1.0 - tail, x >= 0.0);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id : vec3<u32>) {
	if (id.x < arrayLength(&contracts)) {
		let c = contracts[id.x];
		let spread = c.volatility * sqrt(c.years);
		let d1 = (log(c.spot / c.strike) + (rate + 0.5 * c.volatility * c.volatility) * c.years) / spread;
		let d2 = d1 - spread;
		let discounted = c.strike * exp(-rate * c.years);
		calls[id.x] = c.spot * normal_below(d1) - discounted * normal_below(d2);
		puts[id.x] = discounted * normal_below(-d2) - c.spot * normal_below(-d1);
	}
}
