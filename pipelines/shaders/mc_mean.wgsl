//# max dispatch = 1,1,1
// From the sums of payoffs and of their squares: the discounted mean, and its standard error.
override paths : u32 = 262144u;
override rate : f32 = 0.03;
override years : f32 = 1.0;

@group(0) @binding(0) var<storage, read> sum : array<f32>;
@group(0) @binding(1) var<storage, read> sum_of_squares : array<f32>;
@group(0) @binding(2) var<storage, read_write> price : array<f32>;

@compute @workgroup_size(1)
fn main() {
	let n = f32(paths);
	let discount = exp(-rate * years);
	let mean = sum[0] / n;
	let variance = max(sum_of_squares[0] / n - mean * mean, 0.0);
	price[0] = discount * mean;
	price[1] = discount * sqrt(variance / n);
}
