//# max dispatch = 1,1,1
// One invocation does a list of requests, each a store and a load at indices that may be anything, at every level of
// nesting and in every address space. Whatever is hit but was not meant shows in what is read back.
struct Inner {
	head: u32,
	cells: array<array<u32, 3>, 4>,
	mid: u32,
	three: vec3<u32>,
	tail: u32,
	four: vec4<i32>,
	wide: array<u64, 2>,
	end: u32,
}

struct Box {
	items: array<Inner, 3>,
	after: u32,
	list: array<u32>,
}

struct Request {
	kind: u32,
	i: u32,
	j: u32,
	k: u32,
	value: u32,
}

struct Params {
	n: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> requests: array<Request>;
@group(0) @binding(2) var<storage, read_write> box: Box;
@group(0) @binding(3) var<storage, read_write> tickets: array<atomic<u32>, 3>;
@group(0) @binding(4) var<storage, read_write> results: array<u32>;
@group(0) @binding(5) var<storage, read_write> memory: array<u32>;

struct Fenced {
	before: u32,
	row: array<u32, 5>,
	pair: array<array<u32, 3>, 2>,
	behind: u32,
}

var<private> own: Fenced;
var<workgroup> shared_one: Fenced;

fn dump(at: u32, f: Fenced) {
	memory[at] = f.before;
	for (var i = 0u; i < 5u; i++) {
		memory[at + 1u + i] = f.row[i];
	}
	for (var i = 0u; i < 6u; i++) {
		memory[at + 6u + i] = f.pair[i / 3u][i % 3u];
	}
	memory[at + 12u] = f.behind;
}

@compute @workgroup_size(1)
fn main() {
	var here: Fenced;
	for (var r = 0u; r < min(params.n, 256u); r++) {
		let q = requests[r];
		var back = 0u;
		switch (q.kind) {
			case 0u: {
				box.items[q.i].cells[q.j][q.k] = q.value;
				back = box.items[q.i].cells[q.j][q.k];
			}
			case 1u: {
				box.items[i32(q.i)].cells[i32(q.j)][i32(q.k)] = q.value;
				back = box.items[i32(q.i)].cells[i32(q.j)][i32(q.k)];
			}
			case 2u: {
				box.items[q.i].three[q.j] = q.value;
				back = box.items[q.i].three[q.j];
			}
			case 3u: {
				box.items[i32(q.i)].four[i32(q.j)] = i32(q.value);
				back = u32(box.items[i32(q.i)].four[i32(q.j)]);
			}
			case 4u: {
				box.items[q.i].wide[q.j] = u64(q.value);
				back = u32(box.items[q.i].wide[q.j]);
			}
			case 5u: {
				box.list[q.i] = q.value;
				back = box.list[q.i];
			}
			case 6u: {
				box.list[i32(q.i)] = q.value;
				back = box.list[i32(q.i)];
			}
			case 7u: {
				own.row[q.i] = q.value;
				own.pair[q.j][q.k] = q.value;
				back = own.row[q.i] + own.pair[q.j][q.k];
			}
			case 8u: {
				shared_one.row[q.i] = q.value;
				shared_one.pair[q.j][q.k] = q.value;
				back = shared_one.row[q.i] + shared_one.pair[q.j][q.k];
			}
			case 9u: {
				here.row[i32(q.i)] = q.value;
				here.pair[i32(q.j)][i32(q.k)] = q.value;
				back = here.row[i32(q.i)] + here.pair[i32(q.j)][i32(q.k)];
			}
			default: {
				back = atomicAdd(&tickets[q.i], q.value);
			}
		}
		results[r] = back;
	}
	dump(0u, own);
	dump(13u, shared_one);
	dump(26u, here);
}
