// A logit of a token that was seen `seen` times. v[0].x: tokens of a row.
fn product(i: u32) -> T {
	let row = i / params.v[0].x;
	let c = seen[i];
	let l = bitcast<f32>(logits[i]);
	let r = repetition[row];
	let once = select(l * r, l / r, l > 0.0f);
	let y = (once - f32(c) * frequency[row]) - presence[row];
	return select(bitcast<u32>(y), logits[i], c == 0u);
}
