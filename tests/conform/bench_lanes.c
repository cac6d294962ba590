/* How many lane-operations a second the interpreter does: executed u32 or float arithmetic instructions
 * times active lanes, as a counting build counts them, over the time of the plain build. Not a
 * test: run it by hand, under `taskset -c 0` for one core. Prints a table and one JSON line a row.
 */
#include "harness.h"

#include <stdlib.h>

#define GROUPS 64u
#define SIZE 64u

typedef struct bench {
	const char *name;
	uint16_t ops[5];
	uint16_t n_ops;
	uint8_t scalar;
	uint8_t divergent;
	uint32_t rounds;
} bench;

/* Constants of floats are near 1, so that a chain stays among finite numbers for a while. */
static uint32_t constant(prog *p, uint8_t scalar, uint32_t i)
{
	const uint32_t type = pctl_build_scalar(p->b, scalar);

	switch (scalar) {
	case PCTL_SCALAR_F32:
		return pctl_build_const(p->b, type, 0x3f7ffff0u + i);
	case PCTL_SCALAR_F16:
		return pctl_build_const(p->b, type, 0x3bf8u + i);
	case PCTL_SCALAR_BF16:
		return pctl_build_const(p->b, type, 0x3f78u + i);
	default:
		return pctl_build_const(p->b, type, 0x9e3779b9u + i);
	}
}

static uint32_t chain(prog *p, uint32_t x, const bench *c)
{
	const uint32_t type = pctl_build_scalar(p->b, c->scalar);
	uint32_t y = prog_builtin(p, PCTL_BUILTIN_LOCAL_INDEX, 0);

	if (c->scalar != PCTL_SCALAR_U32)
		y = prog_op(p, PCTL_OP_FCONVERT, type, 1, y);
	for (uint32_t i = 0; i < 16; i++) {
		const uint16_t op = c->ops[i % c->n_ops];
		const uint32_t b = i % 3 == 0 ? constant(p, c->scalar, i) : y;
		const uint32_t args[3] = {x, b, y};

		y = x;
		x = pctl_build_inst(p->b, op, type, args,
				    (uint32_t)strspn(pctl_op_get(op)->args, "v"));
	}
	return x;
}

static void measure(rig *r, const bench *what)
{
	static uint32_t out[GROUPS * SIZE];
	static pctl_counts counts;
	const uint32_t groups[3] = {GROUPS, 1, 1};
	pctl_completion done = {.head = PCTL_HEAD(pctl_completion)};
	rig_bytes array = {out, sizeof(out), 0};
	pctl_binding b = {.n_bytes = sizeof(out)};
	uint64_t n_wire, ticket, ops_done = 0, best = UINT64_MAX;
	uint32_t dst, gid, n, x, c, type, first;
	pctl_kernel *k;
	pctl_list *l;
	uint8_t *wire;
	prog p;

	prog_begin(&p);
	type = pctl_build_scalar(p.b, what->scalar);
	dst = prog_storage(&p, "out", pctl_build_array(p.b, type, 0, 0), 1);
	prog_main(&p);
	n = PCTL_PLACE_LOCAL | pctl_build_local(p.b, "n", p.u32);
	x = PCTL_PLACE_LOCAL | pctl_build_local(p.b, "x", type);
	gid = prog_builtin(&p, PCTL_BUILTIN_GLOBAL_ID, 0);
	first = what->scalar == PCTL_SCALAR_U32 ? gid : prog_op(&p, PCTL_OP_FCONVERT, type, 1, gid);
	prog_store(&p, first, x, 0);
	prog_op(&p, PCTL_OP_LOOP, 0, 0);
	c = prog_op(&p, PCTL_OP_LT, p.boolean, 2, prog_load(&p, p.u32, n, 0),
		    prog_u32(&p, what->rounds));
	prog_op(&p, PCTL_OP_LOOP_TEST, 0, 1, c);
	if (what->divergent) {
		c = prog_op(&p, PCTL_OP_AND, p.u32, 2, prog_load(&p, p.u32, x, 0), prog_u32(&p, 1));
		c = prog_op(&p, PCTL_OP_EQ, p.boolean, 2, c, prog_u32(&p, 0));
		prog_op(&p, PCTL_OP_IF, 0, 1, c);
		prog_store(&p, chain(&p, prog_load(&p, type, x, 0), what), x, 0);
		prog_op(&p, PCTL_OP_ELSE, 0, 0);
	}
	prog_store(&p, chain(&p, prog_load(&p, type, x, 0), what), x, 0);
	if (what->divergent)
		prog_op(&p, PCTL_OP_END_IF, 0, 0);
	prog_op(&p, PCTL_OP_CONTINUING, 0, 0);
	prog_store(&p,
		   prog_op(&p, PCTL_OP_ADD, p.u32, 2, prog_load(&p, p.u32, n, 0), prog_u32(&p, 1)),
		   n, 0);
	prog_op(&p, PCTL_OP_END_LOOP, 0, 0);
	prog_store(&p, prog_load(&p, type, x, 0), dst, 1, gid);
	prog_end(&p, SIZE, 1, 1, &wire, &n_wire);
	rig_run(r, wire, n_wire, PCTL_BUILD_COUNT, &array, 1, GROUPS, 1, 1);
	r->api->counts(r->dev, &r->call, &counts);
	for (uint32_t op = PCTL_OP_ADD; op <= PCTL_OP_GE; op++)
		ops_done += counts.op_units[op];
	for (uint32_t op = PCTL_OP_FADD; op <= PCTL_OP_FEXPM1; op++)
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
	printf("%-24s %8.1f million lane-operations a second\n", what->name,
	       (double)ops_done * 1000.0 / (double)best);
	printf("{\"bench\":\"cpu-lanes\",\"case\":\"%s\",\"lane_ops\":%llu,\"ns\":%llu}\n",
	       what->name, (unsigned long long)ops_done, (unsigned long long)best);
	r->api->list_destroy(r->dev, l);
	r->api->buffer_destroy(r->dev, b.buffer);
	r->api->kernel_destroy(r->dev, k);
	free(wire);
}

int main(void)
{
	static const bench benches[] = {
		{"u32 arithmetic",
		 {PCTL_OP_ADD, PCTL_OP_XOR, PCTL_OP_MUL, PCTL_OP_SHR, PCTL_OP_SUB},
		 5,
		 PCTL_SCALAR_U32,
		 0,
		 2000},
		{"u32 arithmetic, divergent",
		 {PCTL_OP_ADD, PCTL_OP_XOR, PCTL_OP_MUL, PCTL_OP_SHR, PCTL_OP_SUB},
		 5,
		 PCTL_SCALAR_U32,
		 1,
		 2000},
		{"half of it divisions",
		 {PCTL_OP_DIV, PCTL_OP_ADD, PCTL_OP_MOD, PCTL_OP_XOR},
		 4,
		 PCTL_SCALAR_U32,
		 0,
		 2000},
		{"f32 add", {PCTL_OP_FADD}, 1, PCTL_SCALAR_F32, 0, 2000},
		{"f32 add, mul", {PCTL_OP_FADD, PCTL_OP_FMUL}, 2, PCTL_SCALAR_F32, 0, 2000},
		{"f32 fma", {PCTL_OP_FFMA}, 1, PCTL_SCALAR_F32, 0, 2000},
		{"f32 div, sqrt", {PCTL_OP_FDIV, PCTL_OP_FSQRT}, 2, PCTL_SCALAR_F32, 0, 500},
		{"f16 add, mul", {PCTL_OP_FADD, PCTL_OP_FMUL}, 2, PCTL_SCALAR_F16, 0, 100},
		{"bf16 add, mul", {PCTL_OP_FADD, PCTL_OP_FMUL}, 2, PCTL_SCALAR_BF16, 0, 100},
		{"f32 sin, log, exp",
		 {PCTL_OP_FSIN, PCTL_OP_FLOG, PCTL_OP_FEXP},
		 3,
		 PCTL_SCALAR_F32,
		 0,
		 2},
		{"f32 cos, exp", {PCTL_OP_FCOS, PCTL_OP_FEXP}, 2, PCTL_SCALAR_F32, 0, 2},
	};
	rig r;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++)
		measure(&r, &benches[i]);
	rig_close(&r);
	return 0;
}
