// Where things of attention lie. Lines are heads of a pass's tokens that share keys: line r of a group is token first + r / group, head r % group of those; LINES of them are a block. Scores
// lie in tiles: 64 keys of each line of a block. v[0]: t, h, d, group; v[1]: b, heads of the cache, elements of a value; v[2]: the cache's; v[3]: first token, lines of a group, blocks of a group,
// window; v[4]: scale, cap, tiles, splits; v[5]: tiles of a split, the most additions on the way of a term. In front: `tokens`, `start`, kv_place, CAUSAL, LINES.
const TILE: u32 = 64u;
const HIDDEN: u32 = 0xffffffffu; // no score

struct Line {
	b: u32,
	j: u32, // head of the cache
	token: u32,
	head: u32,
}

// shared: b * heads + j; r: at least as many as there are is none, and sees nothing.
fn line_of(shared_by: u32, r: u32) -> Line {
	let group = params.v[0].w;
	let j = shared_by % params.v[1].y;
	return Line(shared_by / params.v[1].y, j, params.v[3].x + r / group, j * group + r % group);
}

// The first position that a line sees, and the first behind the last.
fn seen(line: Line, r: u32) -> vec2<u32> {
	let real = tokens(line.b, params.v[0].x);
	if (line.token >= real || r >= params.v[3].y) {
		return vec2<u32>();
	}
	let at = start[line.b] + line.token;
	let window = params.v[3].w;
	let first = select(0u, at + 1u - min(window, at + 1u), window != 0u);
	let end = select(start[line.b] + real, at + 1u, CAUSAL);
	return vec2<u32>(min(first, params.v[2].x), min(end, params.v[2].x));
}

fn query_place(line: Line) -> u32 {
	return ((line.b * params.v[0].x + line.token) * params.v[0].y + line.head) * params.v[0].z;
}
