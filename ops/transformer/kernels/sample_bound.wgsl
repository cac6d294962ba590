// What both ways of drawing are bound to; of this line nothing is left. $ is what one of them has in between, # a number, counted on from one.
struct Sizes {
	@size(4) rows: u32,
	@size(12) tokens: u32,
}

@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> keys: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<u32>;
@group(0) @binding(3) var<storage, read> greatest: array<f32>;
$@group(0) @binding(#) var<storage, read> temperature: array<f32>;
@group(0) @binding(#) var<storage, read> top_k: array<u32>;
@group(0) @binding(#) var<storage, read> top_p: array<f32>;
@group(0) @binding(#) var<storage, read> min_p: array<f32>;
@group(0) @binding(#) var<storage, read> key: array<u32>;
@group(0) @binding(#) var<storage, read> position: array<u32>;
