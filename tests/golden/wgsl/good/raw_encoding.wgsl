// utf-8 é
const a = 1;
const b = 2;
@compute @workgroup_size(1) fn main() {}
