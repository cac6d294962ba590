struct In { @builtin(local_invocation_id) l: vec3u, @builtin(num_workgroups) n: vec3u }
@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) a: u32, in: In, @builtin(global_invocation_id) d: vec3u) { let s = in; let x = s.l.x + in.n.y; }
