/* Control flow under divergence: random structured programs (nested loops with break, continue and
 * return, switches, calls, values alive across regions) run in lockstep, against an evaluator that
 * runs one invocation at a time by recursion over the source tree. Counting builds are compared to
 * the unit. */
#include "harness.h"
#include "main.h"

#include <stdlib.h>

#define N_VARS 4
#define N_ARR 8
#define MAX_NODES 4000
#define MAX_LETS 400
#define MAX_COUNTERS 6
#define N_FUNCTIONS 4 /* the last is main */
#define STEP_BUDGET 20000u

enum { E_CONST, E_VAR, E_LET, E_ARR, E_GID, E_TRACE, E_BIN, E_SELECT };
enum {
	S_SET,
	S_SET_ARR,
	S_LET,
	S_IF,
	S_SWITCH,
	S_LOOP,
	S_BREAK,
	S_CONTINUE,
	S_RETURN,
	S_CALL,
	S_TRACE,
	S_BLOCK
};
enum { GO_ON, DID_BREAK, DID_CONTINUE, DID_RETURN };

typedef struct expr {
	int kind, op, a, b, c, index;
	uint32_t value;
} expr;

typedef struct stmt {
	int kind, e, e2, cmp, index, body, els, next, n_cases, fn, is_signed;
	int cases[4];
	uint32_t literals[4][2];
} stmt;

typedef struct source {
	uint64_t seed, n_random;
	expr e[MAX_NODES];
	stmt s[MAX_NODES];
	int n_e, n_s, n_lets;
	int body[N_FUNCTIONS];
	int result[N_FUNCTIONS]; /* expression returned at the end */
} source;

/* ---- making a source tree ---- */

typedef struct scope {
	int fn, depth, loops, switches, n_lets, calls_ok;
	int lets[MAX_LETS];
} scope;

static uint32_t pick(source *g, uint32_t n)
{
	return (uint32_t)(rnd(g->seed, g->n_random++) % n);
}

static int make_expr(source *g, const scope *sc, int depth)
{
	static const int ops[] = {PCTL_OP_ADD, PCTL_OP_SUB, PCTL_OP_MUL, PCTL_OP_XOR,
				  PCTL_OP_AND, PCTL_OP_OR,  PCTL_OP_SHL, PCTL_OP_SHR,
				  PCTL_OP_DIV, PCTL_OP_MOD, PCTL_OP_MIN, PCTL_OP_MAX};
	expr x = {0};
	int at;

	if (g->n_e >= MAX_NODES - 8)
		depth = 0;
	switch (pick(g, depth > 0 ? 10 : 5)) {
	case 0:
		x.kind = E_CONST;
		x.value = pick(g, 4) ? pick(g, 9) : (uint32_t)rnd(g->seed, g->n_random++);
		break;
	case 1:
		x.kind = E_LET;
		x.index = sc->n_lets ? sc->lets[pick(g, (uint32_t)sc->n_lets)] : -1;
		if (x.index < 0)
			x.kind = E_GID;
		break;
	case 2:
		x.kind = pick(g, 3) ? E_GID : E_TRACE;
		break;
	case 3:
	case 4:
		x.kind = E_VAR;
		x.index = (int)pick(g, N_VARS);
		break;
	case 5:
		x.kind = E_ARR;
		x.a = make_expr(g, sc, depth - 1);
		x.value = pick(g, 4) ? 7 : 15; /* the latter misses half of the time */
		break;
	case 6:
		x.kind = E_SELECT;
		x.a = make_expr(g, sc, depth - 1);
		x.b = make_expr(g, sc, depth - 1);
		x.c = make_expr(g, sc, depth - 1);
		break;
	default:
		x.kind = E_BIN;
		x.op = ops[pick(g, sizeof(ops) / sizeof(ops[0]))];
		x.a = make_expr(g, sc, depth - 1);
		x.b = make_expr(g, sc, depth - 1);
		break;
	}
	at = g->n_e++;
	g->e[at] = x;
	return at;
}

static int make_block(source *g, scope *sc);

static int make_switch(source *g, scope *sc, stmt *s)
{
	s->n_cases = 1 + (int)pick(g, 4);
	s->is_signed = (int)pick(g, 2);
	sc->switches++;
	for (int i = 0; i < s->n_cases; i++) {
		s->literals[i][0] = (uint32_t)i * 2 - (s->is_signed ? 2u : 0u);
		s->literals[i][1] = s->literals[i][0] + 1;
		s->cases[i] = make_block(g, sc);
	}
	sc->switches--;
	s->index = (int)pick(g, (uint32_t)s->n_cases); /* the default */
	return S_SWITCH;
}

static int make_loop(source *g, scope *sc, stmt *s)
{
	const int switches = sc->switches;

	s->index = sc->loops; /* number of the counter */
	sc->loops++;
	sc->switches = 0;
	s->body = make_block(g, sc);
	sc->switches = switches;
	sc->loops--;
	return S_LOOP;
}

static stmt make_stmt(source *g, scope *sc, int *ends)
{
	stmt s = {.body = -1, .els = -1, .next = -1};
	const uint32_t deep = sc->depth >= 5;

	s.cmp = PCTL_OP_EQ + (int)pick(g, 6);
	s.e = make_expr(g, sc, 2);
	s.e2 = make_expr(g, sc, 1);
	switch (pick(g, deep ? 8 : 16)) {
	case 0:
		s.kind = S_SET_ARR;
		break;
	case 1:
	case 2:
		s.kind = S_LET;
		s.index = g->n_lets < MAX_LETS ? g->n_lets++ : -1;
		if (s.index < 0)
			s.kind = S_SET, s.index = 0;
		break;
	case 3:
		s.kind = S_TRACE;
		break;
	case 4:
		s.kind = pick(g, 2) && (sc->loops || sc->switches) ? S_BREAK : S_SET;
		break;
	case 5:
		s.kind = pick(g, 2) && sc->loops ? S_CONTINUE : S_SET;
		break;
	case 6:
		s.kind = pick(g, 3) == 0 && sc->depth > 1 ? S_RETURN : S_TRACE;
		break;
	case 7:
		s.kind = S_SET;
		break;
	case 8:
		s.kind = S_BLOCK;
		s.body = make_block(g, sc);
		break;
	case 9:
		s.kind = sc->fn > 0 && sc->loops < 2 ? S_CALL : S_SET;
		s.fn = sc->fn > 0 ? (int)pick(g, (uint32_t)sc->fn) : 0;
		break;
	case 10:
		s.kind = make_switch(g, sc, &s);
		break;
	case 11:
	case 12:
		s.kind = sc->loops < 3 ? make_loop(g, sc, &s) : S_TRACE;
		break;
	default:
		s.kind = S_IF;
		s.body = make_block(g, sc);
		s.els = pick(g, 2) ? make_block(g, sc) : -1;
		break;
	}
	if (s.kind == S_SET || s.kind == S_CALL)
		s.index = (int)pick(g, N_VARS);
	*ends = s.kind == S_BREAK || s.kind == S_CONTINUE || s.kind == S_RETURN;
	return s;
}

static int make_block(source *g, scope *sc)
{
	const int n_lets = sc->n_lets;
	const uint32_t n = 1 + pick(g, 4);
	int first = -1, last = -1, ends = 0;

	sc->depth++;
	for (uint32_t i = 0; i < n && !ends && g->n_s < MAX_NODES - 40; i++) {
		const stmt s = make_stmt(g, sc, &ends);
		const int at = g->n_s++;

		g->s[at] = s;
		if (s.kind == S_LET && sc->n_lets < MAX_LETS)
			sc->lets[sc->n_lets++] = s.index;
		if (last >= 0)
			g->s[last].next = at;
		else
			first = at;
		last = at;
	}
	sc->depth--;
	sc->n_lets = n_lets;
	return first;
}

static void make_source(source *g, uint64_t seed)
{
	memset(g, 0, sizeof(*g));
	g->seed = seed;
	for (int f = 0; f < N_FUNCTIONS; f++) {
		scope sc = {.fn = f};

		g->body[f] = make_block(g, &sc);
		g->result[f] = make_expr(g, &sc, 2);
	}
}

/* ---- one invocation at a time ---- */

typedef struct machine {
	const source *g;
	uint32_t gid, trace, steps;
	uint64_t units[512];
} machine;

typedef struct frame {
	uint32_t v[N_VARS], arr[N_ARR], counter[MAX_COUNTERS], lets[MAX_LETS], result;
} frame;

static uint32_t binary(int op, uint32_t a, uint32_t b)
{
	switch (op) {
	case PCTL_OP_ADD:
		return a + b;
	case PCTL_OP_SUB:
		return a - b;
	case PCTL_OP_MUL:
		return a * b;
	case PCTL_OP_XOR:
		return a ^ b;
	case PCTL_OP_AND:
		return a & b;
	case PCTL_OP_OR:
		return a | b;
	case PCTL_OP_SHL:
		return a << (b % 32);
	case PCTL_OP_SHR:
		return a >> (b % 32);
	case PCTL_OP_DIV:
		return b ? a / b : 0;
	case PCTL_OP_MOD:
		return b ? a % b : 0;
	case PCTL_OP_MIN:
		return a < b ? a : b;
	case PCTL_OP_MAX:
		return a > b ? a : b;
	case PCTL_OP_EQ:
		return a == b;
	case PCTL_OP_NE:
		return a != b;
	case PCTL_OP_LT:
		return a < b;
	case PCTL_OP_LE:
		return a <= b;
	case PCTL_OP_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static uint32_t eval(machine *m, frame *f, int at)
{
	const expr *x = &m->g->e[at];
	uint32_t a, b, c;

	switch (x->kind) {
	case E_CONST:
		return x->value;
	case E_VAR:
		m->units[PCTL_OP_LOAD] += 4;
		return f->v[x->index];
	case E_LET:
		return f->lets[x->index];
	case E_ARR:
		a = eval(m, f, x->a) & x->value;
		m->units[PCTL_OP_AND]++;
		m->units[PCTL_OP_LOAD] += 4;
		return a < N_ARR ? f->arr[a] : 0;
	case E_GID:
		return m->gid;
	case E_TRACE:
		m->units[PCTL_OP_LOAD] += 4;
		return m->trace;
	case E_SELECT: /* a < b ? b : c, all sides evaluated */
		a = eval(m, f, x->a);
		b = eval(m, f, x->b);
		c = eval(m, f, x->c);
		m->units[PCTL_OP_LT]++;
		m->units[PCTL_OP_SELECT]++;
		return a < b ? b : c;
	default:
		a = eval(m, f, x->a);
		b = eval(m, f, x->b);
		m->units[x->op]++;
		return binary(x->op, a, b);
	}
}

static uint32_t call(machine *m, int fn, uint32_t a, uint32_t b);

static int run_block(machine *m, frame *f, int at);

static int run_switch(machine *m, frame *f, const stmt *s)
{
	uint32_t v = eval(m, f, s->e), index = (uint32_t)s->index;
	int how;

	m->units[PCTL_OP_MOD]++;
	m->units[PCTL_OP_SUB]++;
	v = v % 9 - 2;
	m->units[PCTL_OP_SWITCH]++;
	for (uint32_t i = 0; i < (uint32_t)s->n_cases; i++)
		if (v == s->literals[i][0] || v == s->literals[i][1])
			index = i;
	how = run_block(m, f, s->cases[index]);
	return how == DID_BREAK ? GO_ON : how;
}

static int run_loop(machine *m, frame *f, const stmt *s)
{
	uint32_t *counter = &f->counter[s->index];

	m->units[PCTL_OP_STORE] += 4;
	m->units[PCTL_OP_LOOP]++;
	for (*counter = 0;; (*counter)++) {
		int how;
		const uint32_t bound = eval(m, f, s->e);

		if (++m->steps > STEP_BUDGET)
			return DID_RETURN;
		m->units[PCTL_OP_LOAD] += 4;
		m->units[PCTL_OP_MIN]++;
		m->units[PCTL_OP_LT]++;
		m->units[PCTL_OP_LOOP_TEST]++;
		if (!(*counter < (bound < 6 ? bound : 6)))
			return GO_ON;
		how = run_block(m, f, s->body);
		if (how == DID_BREAK)
			return GO_ON;
		if (how == DID_RETURN)
			return how;
		m->units[PCTL_OP_LOAD] += 4;
		m->units[PCTL_OP_ADD]++;
		m->units[PCTL_OP_STORE] += 4;
	}
}

static int run_stmt(machine *m, frame *f, const stmt *s)
{
	uint32_t a, b;

	switch (s->kind) {
	case S_SET:
		f->v[s->index] = eval(m, f, s->e);
		m->units[PCTL_OP_STORE] += 4;
		return GO_ON;
	case S_SET_ARR:
		a = eval(m, f, s->e) % 10;
		b = eval(m, f, s->e2);
		m->units[PCTL_OP_MOD]++;
		m->units[PCTL_OP_STORE] += 4;
		if (a < N_ARR)
			f->arr[a] = b;
		return GO_ON;
	case S_LET:
		f->lets[s->index] = eval(m, f, s->e);
		return GO_ON;
	case S_TRACE:
		a = eval(m, f, s->e);
		m->trace = m->trace * 31 + a;
		m->units[PCTL_OP_LOAD] += 4;
		m->units[PCTL_OP_STORE] += 4;
		m->units[PCTL_OP_MUL]++;
		m->units[PCTL_OP_ADD]++;
		return GO_ON;
	case S_BLOCK:
		return run_block(m, f, s->body);
	case S_IF:
		a = eval(m, f, s->e);
		b = eval(m, f, s->e2);
		m->units[s->cmp]++;
		m->units[PCTL_OP_IF]++;
		return run_block(m, f, binary(s->cmp, a, b) ? s->body : s->els);
	case S_SWITCH:
		return run_switch(m, f, s);
	case S_LOOP:
		return run_loop(m, f, s);
	case S_BREAK:
		m->units[PCTL_OP_BREAK]++;
		return DID_BREAK;
	case S_CONTINUE:
		m->units[PCTL_OP_CONTINUE]++;
		return DID_CONTINUE;
	case S_RETURN:
		f->result = eval(m, f, s->e);
		m->units[PCTL_OP_RETURN]++;
		return DID_RETURN;
	default:
		a = eval(m, f, s->e);
		b = eval(m, f, s->e2);
		m->units[PCTL_OP_CALL]++;
		f->v[s->index] = call(m, s->fn, a, b);
		m->units[PCTL_OP_STORE] += 4;
		return GO_ON;
	}
}

static int run_block(machine *m, frame *f, int at)
{
	for (; at >= 0; at = m->g->s[at].next) {
		int how;

		if (++m->steps > STEP_BUDGET)
			return DID_RETURN;
		how = run_stmt(m, f, &m->g->s[at]);
		if (how != GO_ON)
			return how;
	}
	return GO_ON;
}

static uint32_t call(machine *m, int fn, uint32_t a, uint32_t b)
{
	frame *f = calloc(1, sizeof(*f));
	uint32_t result;

	f->v[0] = a;
	f->v[1] = b;
	m->units[PCTL_OP_STORE] += 8;
	if (run_block(m, f, m->g->body[fn]) != DID_RETURN) {
		f->result = eval(m, f, m->g->result[fn]);
		m->units[PCTL_OP_RETURN]++;
	}
	result = f->result;
	free(f);
	return result;
}

/* ---- the same as a program ---- */

typedef struct writer {
	prog p;
	const source *g;
	uint32_t function[N_FUNCTIONS];
	uint32_t var[N_VARS], arr, counter[MAX_COUNTERS];
	uint32_t trace, gid;
	uint32_t lets[MAX_LETS];
} writer;

static uint32_t local(uint32_t index)
{
	return PCTL_PLACE_LOCAL | index;
}

static uint32_t write_expr(writer *w, int at)
{
	const expr *x = &w->g->e[at];
	prog *p = &w->p;
	uint32_t a, b, c;

	switch (x->kind) {
	case E_CONST:
		return prog_u32(p, x->value);
	case E_VAR:
		return prog_load(p, p->u32, local(w->var[x->index]), 0);
	case E_LET:
		return w->lets[x->index];
	case E_ARR:
		a = prog_op(p, PCTL_OP_AND, p->u32, 2, write_expr(w, x->a), prog_u32(p, x->value));
		return prog_load(p, p->u32, local(w->arr), 1, a);
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
	const uint32_t counter = local(w->counter[s->index]);
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
		prog_store(p, write_expr(w, s->e), local(w->var[s->index]), 0);
		break;
	case S_SET_ARR:
		a = prog_op(p, PCTL_OP_MOD, p->u32, 2, write_expr(w, s->e), prog_u32(p, 10));
		b = write_expr(w, s->e2);
		prog_store(p, b, local(w->arr), 1, a);
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
		prog_store(p, a, local(w->var[s->index]), 0);
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
	prog_store(p, 0, local(w->var[0]), 0);
	prog_store(p, 1, local(w->var[1]), 0);
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
	bytes array = {out, n * 4ull, 0, 0};
	uint64_t total[512] = {0};
	uint8_t *wire;
	uint64_t n_wire;
	int fits = 1;

	make_source(&g, seed);
	for (uint32_t i = 0; i < n && fits; i++) {
		memset(&m, 0, sizeof(m));
		m.g = &g;
		m.gid = i;
		want[i] = call(&m, N_FUNCTIONS - 1, i, 5);
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
			assert_int_equal(r->be->counts(r->dev, &r->call, &counts), PCTL_OK);
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

	rig_open(&r, PIPECTL_CPU_PLUGIN);
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
