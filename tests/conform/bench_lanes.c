/* How many lane-operations a second the interpreter does: executed u32 arithmetic instructions
 * times active lanes, as a counting build counts them, over the time of the plain build. Not a
 * test: run it by hand, under `taskset -c 0` for one core. Prints a table and one JSON line a row.
 */
#include "harness.h"

#include <stdlib.h>

#define ROUNDS 2000u
#define GROUPS 64u
#define SIZE 64u

static uint32_t chain(prog *p, uint32_t x, const uint16_t *ops, uint32_t n)
{
	uint32_t y = prog_builtin(p, PCTL_BUILTIN_LOCAL_INDEX, 0);

	for (uint32_t i = 0; i < 16; i++) {
		const uint16_t op = ops[i % n];
		const uint32_t b = i % 3 == 0 ? prog_u32(p, 0x9e3779b9u + i) : y;

		y = x;
		x = prog_op(p, op, p->u32, 2, x, b);
	}
	return x;
}

static void measure(rig *r, const char *name, const uint16_t *ops, uint32_t n_ops, int divergent)
{
	static uint32_t out[GROUPS * SIZE];
	static pctl_counts counts;
	const uint32_t groups[3] = {GROUPS, 1, 1};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	rig_bytes array = {out, sizeof(out), 0};
	pctl_binding b = {.n_bytes = sizeof(out)};
	uint64_t n_wire, ticket, ops_done = 0, best = UINT64_MAX;
	uint32_t dst, gid, n, x, c;
	pctl_kernel *k;
	pctl_list *l;
	uint8_t *wire;
	prog p;

	prog_begin(&p);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, p.u32, 0, 0), 1);
	prog_main(&p);
	n = PCTL_PLACE_LOCAL | pctl_build_local(p.b, "n", p.u32);
	x = PCTL_PLACE_LOCAL | pctl_build_local(p.b, "x", p.u32);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	prog_store(&p, gid, x, 0);
	prog_op(&p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&p, PCTL_OP_LT, p.boolean, 2, prog_load(&p, p.u32, n, 0), prog_u32(&p, ROUNDS));
	prog_op(&p, PCTL_OP_LOOP_TEST, 0, 1, c);
	if (divergent) {
		c = prog_op(&p, PCTL_OP_AND, p.u32, 2, prog_load(&p, p.u32, x, 0), prog_u32(&p, 1));
		c = prog_op(&p, PCTL_OP_EQ, p.boolean, 2, c, prog_u32(&p, 0));
		prog_op(&p, PCTL_OP_IF, 0, 1, c);
		prog_store(&p, chain(&p, prog_load(&p, p.u32, x, 0), ops, n_ops), x, 0);
		prog_op(&p, PCTL_OP_ELSE, 0, 0);
	}
	prog_store(&p, chain(&p, prog_load(&p, p.u32, x, 0), ops, n_ops), x, 0);
	if (divergent)
		prog_op(&p, PCTL_OP_END_IF, 0, 0);
	prog_op(&p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&p,
		   prog_op(&p, PCTL_OP_ADD, p.u32, 2, prog_load(&p, p.u32, n, 0), prog_u32(&p, 1)),
		   n, 0);
	prog_op(&p, PCTL_OP_END_LOOP, 0, 0);
	prog_store(&p, prog_load(&p, p.u32, x, 0), dst, 1, gid);
	prog_end(&p, SIZE, 1, 1, &wire, &n_wire);
	rig_run(r, wire, n_wire, PCTL_BUILD_COUNT, &array, 1, GROUPS, 1, 1);
	r->api->counts(r->dev, &r->call, &counts);
	for (uint32_t op = PCTL_OP_ADD; op <= PCTL_OP_GE; op++)
		ops_done += counts.op_units[op];
	r->api->kernel_build(r->dev, &r->call, wire, n_wire, 0, NULL, 0, &k);
	r->api->buffer_create(r->dev, &r->call, sizeof(out), PCTL_BUFFER_STORAGE, &b.buffer);
	r->api->list_begin(r->dev, &r->call, &l);
	r->api->list_dispatch(l, &r->call, k, &b, 1, groups);
	r->api->list_end(l, &r->call);
	for (int i = 0; i < 5; i++) {
		r->api->submit(r->dev, &r->call, l, 1, &ticket);
		r->api->wait(r->dev, &r->call, ticket, UINT64_MAX / 4, &done);
		if (done.device_ns < best)
			best = done.device_ns;
	}
	printf("%-24s %8.0f million lane-operations a second\n", name,
	       (double)ops_done * 1000.0 / (double)best);
	printf("{\"bench\":\"cpu-lanes\",\"case\":\"%s\",\"lane_ops\":%llu,\"ns\":%llu}\n", name,
	       (unsigned long long)ops_done, (unsigned long long)best);
	r->api->list_destroy(r->dev, l);
	r->api->buffer_destroy(r->dev, b.buffer);
	r->api->kernel_destroy(r->dev, k);
	free(wire);
}

int main(void)
{
	static const uint16_t mixed[] = {PCTL_OP_ADD, PCTL_OP_XOR, PCTL_OP_MUL, PCTL_OP_SHR,
					 PCTL_OP_SUB};
	static const uint16_t divide[] = {PCTL_OP_DIV, PCTL_OP_ADD, PCTL_OP_MOD, PCTL_OP_XOR};
	rig r;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	measure(&r, "u32 arithmetic", mixed, 5, 0);
	measure(&r, "u32 arithmetic, divergent", mixed, 5, 1);
	measure(&r, "half of it divisions", divide, 4, 0);
	rig_close(&r);
	return 0;
}
