/* See flow.h. */
#include "flow.h"

#include "rig.h"

#include <stdlib.h>

/* ---- making a source tree ---- */

typedef struct scope {
	int fn, depth, loops, switches, n_lets, calls_ok;
	int lets[MAX_LETS];
} scope;

static uint32_t pick(source *g, uint32_t n)
{
	return (uint32_t)(rig_random(g->seed, g->n_random++) % n);
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
		x.value = pick(g, 4) ? pick(g, 9) : (uint32_t)rig_random(g->seed, g->n_random++);
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

void flow_make(source *g, uint64_t seed)
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
		f->v[s->index] = flow_call(m, s->fn, a, b);
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

uint32_t flow_call(machine *m, int fn, uint32_t a, uint32_t b)
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
