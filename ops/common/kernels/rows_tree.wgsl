// What the lanes of a row found, joined: sixteen by sixteen, so that there are two barriers. In front: $_T and $_join.
var<workgroup> $_lanes: array<$_T, LOCAL>;
var<workgroup> $_few: array<$_T, FEW>;

fn $_together(lane: u32, row: u32, mine: $_T) -> $_T {
	const few = LANES / 16u;
	$_lanes[row * LANES + lane] = mine;
	workgroupBarrier();
	if (lane < few) {
		var some = $_lanes[row * LANES + lane];
		for (var k = 1u; k < 16u; k++) {
			some = $_join(some, $_lanes[row * LANES + k * few + lane]);
		}
		$_few[row * few + lane] = some;
	}
	workgroupBarrier();
	var all = $_few[row * few];
	for (var k = 1u; k < few; k++) {
		all = $_join(all, $_few[row * few + k]);
	}
	return all;
}
