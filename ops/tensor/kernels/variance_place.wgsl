// Where the digits of sums and of sums of squares lie (variance.wgsl).
struct Moments {
	@size(4) n: u32,
	@size(4) ddof: u32,
	@size(4) eps: u32, // bits of an f32
	@size(4) count: u32,
}

@group(0) @binding(0) var<uniform> moments: Moments;
@group(0) @binding(1) var<storage, read> sums: array<array<u32, 21>>;
@group(0) @binding(2) var<storage, read> squares_of: array<array<u32, 21>>;
