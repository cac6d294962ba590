/* Control flow under divergence: random structured programs (nested loops with break, continue and
 * return, switches, calls, values alive across regions) run in lockstep, against the evaluator
 * of flow.h. Counting builds are compared to the unit. */
#include "flow.h"
#include "harness.h"
#include "main.h"

#include <stdlib.h>

/* ---- the same as a program ---- */

typedef struct writer {
	prog p;
	const source *g;
	uint32_t function[N_FUNCTIONS];
	uint32_t var[N_VARS], arr, counter[MAX_COUNTERS];
	uint32_t trace, gid;
	uint32_t lets[MAX_LETS];
} writer;

static uint32_t write_expr(writer *w, int at)
{
	const expr *x = &w->g->e[at];
	prog *p = &w->p;
	uint32_t a, b, c;

	switch (x->kind) {
	case E_CONST:
		return prog_u32(p, x->value);
	case E_VAR:
		return prog_load(p, p->u32, prog_local(w->var[x->index]), 0);
	case E_LET:
		return w->lets[x->index];
	case E_ARR:
		a = prog_op(p, PCTL_OP_AND, p->u32, 2, write_expr(w, x->a), prog_u32(p, x->value));
		return prog_load(p, p->u32, prog_local(w->arr), 1, a);
	case E_GID:
		return prog_builtin(p, PCTL_BUILTIN_GLOBAL_ID, 0);
	case E_TRACE:
		return prog_load(p, p->u32, w->trace, 0);
	case E_SELECT:
		a = write_expr(w, x->a);
		b = write_expr(w, x->b);
		c = write_expr(w, x->c);
		a = prog_op(p, PCTL_OP_LT, p->boolean, 2, a, b);
		return prog_op(p, PCTL_OP_SELECT, p->u32, 3, a, b, c);
	default:
		a = write_expr(w, x->a);
		b = write_expr(w, x->b);
		return prog_op(p, (uint16_t)x->op, p->u32, 2, a, b);
	}
}

static void write_block(writer *w, int at);

static void write_switch(writer *w, const stmt *s)
{
	prog *p = &w->p;
	uint32_t v = prog_op(p, PCTL_OP_MOD, p->u32, 2, write_expr(w, s->e), prog_u32(p, 9));

	v = prog_op(p, PCTL_OP_SUB, p->u32, 2, v, prog_u32(p, 2));
	if (s->is_signed)
		v = prog_op(p, PCTL_OP_BITCAST, p->i32, 1, v);
	prog_op(p, PCTL_OP_SWITCH, 0, 1, v);
	for (int i = 0; i < s->n_cases; i++) {
		prog_op(p, PCTL_OP_CASE, 0, 3, (uint32_t)(i == s->index), s->literals[i][0],
			s->literals[i][1]);
		write_block(w, s->cases[i]);
	}
	prog_op(p, PCTL_OP_END_SWITCH, 0, 0);
}

static void write_loop(writer *w, const stmt *s)
{
	const uint32_t counter = prog_local(w->counter[s->index]);
	prog *p = &w->p;
	uint32_t bound, c;

	prog_store(p, prog_u32(p, 0), counter, 0);
	prog_op(p, PCTL_OP_LOOP, 0, 0);
	bound = write_expr(w, s->e);
	c = prog_load(p, p->u32, counter, 0);
	bound = prog_op(p, PCTL_OP_MIN, p->u32, 2, bound, prog_u32(p, 6));
	prog_op(p, PCTL_OP_LOOP_TEST, 0, 1, prog_op(p, PCTL_OP_LT, p->boolean, 2, c, bound));
	write_block(w, s->body);
	prog_op(p, PCTL_OP_CONTINUING, 0, 0);
	c = prog_load(p, p->u32, counter, 0);
	prog_store(p, prog_op(p, PCTL_OP_ADD, p->u32, 2, c, prog_u32(p, 1)), counter, 0);
	prog_op(p, PCTL_OP_END_LOOP, 0, 0);
}

static void write_stmt(writer *w, const stmt *s)
{
	prog *p = &w->p;
	uint32_t a, b;

	switch (s->kind) {
	case S_SET:
		prog_store(p, write_expr(w, s->e), prog_local(w->var[s->index]), 0);
		break;
	case S_SET_ARR:
		a = prog_op(p, PCTL_OP_MOD, p->u32, 2, write_expr(w, s->e), prog_u32(p, 10));
		b = write_expr(w, s->e2);
		prog_store(p, b, prog_local(w->arr), 1, a);
		break;
	case S_LET:
		w->lets[s->index] = write_expr(w, s->e);
		break;
	case S_TRACE:
		a = write_expr(w, s->e);
		b = prog_op(p, PCTL_OP_MUL, p->u32, 2, prog_load(p, p->u32, w->trace, 0),
			    prog_u32(p, 31));
		prog_store(p, prog_op(p, PCTL_OP_ADD, p->u32, 2, b, a), w->trace, 0);
		break;
	case S_BLOCK:
		prog_op(p, PCTL_OP_BLOCK, 0, 0);
		write_block(w, s->body);
		prog_op(p, PCTL_OP_END_BLOCK, 0, 0);
		break;
	case S_IF:
		a = write_expr(w, s->e);
		b = write_expr(w, s->e2);
		prog_op(p, PCTL_OP_IF, 0, 1, prog_op(p, (uint16_t)s->cmp, p->boolean, 2, a, b));
		write_block(w, s->body);
		if (s->els >= 0) {
			prog_op(p, PCTL_OP_ELSE, 0, 0);
			write_block(w, s->els);
		}
		prog_op(p, PCTL_OP_END_IF, 0, 0);
		break;
	case S_SWITCH:
		write_switch(w, s);
		break;
	case S_LOOP:
		write_loop(w, s);
		break;
	case S_BREAK:
		prog_op(p, PCTL_OP_BREAK, 0, 0);
		break;
	case S_CONTINUE:
		prog_op(p, PCTL_OP_CONTINUE, 0, 0);
		break;
	case S_RETURN:
		prog_op(p, PCTL_OP_RETURN, 0, 1, write_expr(w, s->e));
		break;
	default:
		a = write_expr(w, s->e);
		b = write_expr(w, s->e2);
		a = prog_op(p, PCTL_OP_CALL, p->u32, 3, w->function[s->fn], a, b);
		prog_store(p, a, prog_local(w->var[s->index]), 0);
		break;
	}
}

static void write_block(writer *w, int at)
{
	for (; at >= 0; at = w->g->s[at].next)
		write_stmt(w, &w->g->s[at]);
}

static void write_function(writer *w, int f)
{
	prog *p = &w->p;
	const uint32_t params[2] = {p->u32, p->u32};
	char name[16];

	snprintf(name, sizeof(name), "f%d", f);
	pctl_build_function_begin(p->b, name, params, 2, p->u32);
	for (int i = 0; i < N_VARS; i++)
		w->var[i] = pctl_build_local(p->b, "v", p->u32);
	w->arr = pctl_build_local(p->b, "arr", pctl_build_array(p->b, p->u32, N_ARR, 0));
	for (int i = 0; i < MAX_COUNTERS; i++)
		w->counter[i] = pctl_build_local(p->b, "c", p->u32);
	prog_store(p, 0, prog_local(w->var[0]), 0);
	prog_store(p, 1, prog_local(w->var[1]), 0);
	write_block(w, w->g->body[f]);
	prog_op(p, PCTL_OP_RETURN, 0, 1, write_expr(w, w->g->result[f]));
	w->function[f] = pctl_build_function_end(p->b);
}

static void write_program(writer *w, const source *g, uint32_t size, uint8_t **wire,
			  uint64_t *n_wire)
{
	prog *p = &w->p;
	uint32_t out, gid, r;

	memset(w, 0, sizeof(*w));
	w->g = g;
	prog_begin(p);
	out = prog_storage(p, "out", pctl_build_array(p->b, p->u32, 0, 0), 1);
	w->trace = prog_var(p, "trace", p->u32, PCTL_SPACE_PRIVATE);
	for (int f = 0; f < N_FUNCTIONS; f++)
		write_function(w, f);
	prog_main(p);
	gid = prog_builtin(p, PCTL_BUILTIN_GLOBAL_ID, 0);
	r = prog_op(p, PCTL_OP_CALL, p->u32, 3, w->function[N_FUNCTIONS - 1], gid, prog_u32(p, 5));
	r = prog_op(p, PCTL_OP_XOR, p->u32, 2, r, prog_load(p, p->u32, w->trace, 0));
	prog_store(p, r, out, 1, gid);
	prog_end(p, size, 1, 1, wire, n_wire);
}

/* ---- comparison ---- */

/* Variables are sorted by space, and `trace` is last in either order, so its index needs no care.
 */
static int compare(rig *r, uint64_t seed, uint32_t size, uint32_t groups, uint32_t flags)
{
	static source g;
	static writer w;
	static machine m;
	const uint32_t n = size * groups;
	uint32_t *out = calloc(n, 4), *want = calloc(n, 4);
	rig_bytes array = {out, n * 4ull, 0};
	uint64_t total[512] = {0};
	uint8_t *wire;
	uint64_t n_wire;
	int fits = 1;

	flow_make(&g, seed);
	for (uint32_t i = 0; i < n && fits; i++) {
		memset(&m, 0, sizeof(m));
		m.g = &g;
		m.gid = i;
		want[i] = flow_call(&m, N_FUNCTIONS - 1, i, 5);
		want[i] ^= m.trace;
		fits = m.steps < STEP_BUDGET;
		for (int k = 0; k < 512; k++)
			total[k] += m.units[k];
	}
	if (fits) {
		write_program(&w, &g, size, &wire, &n_wire);
		rig_run(r, wire, n_wire, flags, &array, 1, groups, 1, 1);
		free(wire);
		for (uint32_t i = 0; i < n; i++)
			if (out[i] != want[i])
				fail_msg("seed %llu size %u flags %u: invocation %u gives %x, not "
					 "%x",
					 (unsigned long long)seed, size, flags, i, out[i], want[i]);
		if (flags & PCTL_BUILD_COUNT) {
			static pctl_counts counts;

			total[PCTL_OP_CALL] += n; /* what main does itself */
			total[PCTL_OP_XOR] += n;
			total[PCTL_OP_LOAD] += 4ull * n;
			total[PCTL_OP_STORE] += 4ull * n;
			assert_int_equal(r->api->counts(r->dev, &r->call, &counts), PCTL_OK);
			for (int k = PCTL_OP_ADD; k < 512; k++)
				if (pctl_op_get((uint16_t)k)->name &&
				    counts.op_units[k] != total[k] && k != PCTL_OP_EXTRACT &&
				    k != PCTL_OP_BITCAST)
					fail_msg("seed %llu: %s counted %llu, not %llu",
						 (unsigned long long)seed,
						 pctl_op_get((uint16_t)k)->name,
						 (unsigned long long)counts.op_units[k],
						 (unsigned long long)total[k]);
		}
	}
	free(out);
	free(want);
	return fits;
}

static void random_programs(uint32_t size, uint32_t groups, uint32_t flags, uint64_t first,
			    uint64_t n)
{
	uint32_t ran = 0;
	rig r;

	harness_open(&r, PIPECTL_CPU_PLUGIN);
	for (uint64_t seed = first; seed < first + n; seed++)
		ran += (uint32_t)compare(&r, seed, size, groups, flags);
	rig_close(&r);
	assert_true(ran > n / 2);
}

static void one_workgroup(void **state)
{
	(void)state;
	random_programs(64, 1, 0, 1, 150);
}

static void workgroups_that_share_a_strip(void **state)
{
	(void)state;
	random_programs(7, 40, 0, 1000, 150);
}

static void workgroups_of_one(void **state)
{
	(void)state;
	random_programs(1, 300, 0, 2000, 60);
}

static void large_workgroups(void **state)
{
	(void)state;
	random_programs(1000, 3, 0, 3000, 40);
}

static void counting(void **state)
{
	(void)state;
	random_programs(50, 5, PCTL_BUILD_COUNT, 4000, 80);
}

static void sanitizing(void **state)
{
	(void)state;
	random_programs(33, 3, PCTL_BUILD_SANITIZE | PCTL_BUILD_COUNT, 5000, 60);
}

PCTL_TESTS_MAIN(PCTL_TEST(one_workgroup), PCTL_TEST(workgroups_that_share_a_strip),
		PCTL_TEST(workgroups_of_one), PCTL_TEST(large_workgroups), PCTL_TEST(counting),
		PCTL_TEST(sanitizing))
