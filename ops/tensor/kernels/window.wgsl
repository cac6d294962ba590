// Where a tap of a window lies in a channel of x. v[$]: places, stride, pad and dilation of the innermost dimension, and the next two; v[$ + 3]:
// taps of the three, v[$ + 4]: elements. `window_step` takes a place among those that a stride spreads apart, where it does.
const NOWHERE: u32 = 0xffffffffu;

fn window_at(place: u32, tap: u32) -> u32 {
	var place_rest = place;
	var tap_rest = tap;
	var at = 0u;
	var scale = 1u;
	var within = true;
	for (var d = 0u; d < 3u; d++) {
		let dim = params.v[$u + d];
		let taps = params.v[$u + 3u][d];
		let n = params.v[$u + 4u][d];
		let q = place_rest % dim.x;
		let t = tap_rest % taps;
		let scaled = select(i32(q), i32(q * dim.y), SPREAD == 1);
		let s = window_step(scaled - SPREAD * i32(dim.z) + SPREAD * i32(t * dim.w), dim);
		within = within && s >= 0 && s < i32(n);
		at += u32(max(s, 0)) * scale;
		scale = scale * n;
		place_rest = place_rest / dim.x;
		tap_rest = tap_rest / taps;
	}
	return select(NOWHERE, at, within);
}
