// The same, where a row has SHARES of them (in front): workgroups that run together have the same columns, whose terms, of factors larger than caches, they then read once.
fn share_of(group: vec3<u32>) -> u32 {
	return group.x * SHARES + group.y;
}
