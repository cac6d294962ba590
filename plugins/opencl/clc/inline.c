/* Functions that hold a barrier, written out in main where they are called, so that it holds all barriers: a generator of whole
 * workgroups sees between which of them code stands, ticks (ticks.c) have one loop for all, and no driver has to see through it.
 *
 * For lanes (spmd/) only functions that return at their very end, and only where main would have many sides of conditions, cases or
 * loops that hold a barrier: where there are few, PoCL's own loops over invocations were as fast as lanes are, or faster (53
 * against 77 ms for a kernel of exact sums). What lanes do not take has all of them written out: one that returns early is a
 * block, which its returns leave, and its result a local. */
#include "clc/internal.h"

#include <stdlib.h>
#include <string.h>

#define LARGEST 65536u /* instructions of main */
#define FEW 5u	       /* sides, cases and loops that hold a barrier */
#define DEPTH_MOST 512u
#define EARLY 2u

typedef struct writer {
	const emitter *e; /* of the program as it came */
	emit_inlined *out;
	uint8_t *goes_in; /* a function: it is written out; EARLY: and returns before its end */
	uint32_t n_insts, n_words, n_locals; /* so far, of everything */
	uint32_t cap_insts, cap_words, cap_locals;
	uint32_t begin;	       /* of main's instructions */
	uint32_t begin_locals; /* of its locals */
	int failed;	       /* no memory, or too large */
} writer;

static int grow(void **array, uint32_t *capacity, uint32_t n, size_t size)
{
	const uint32_t next = *capacity > n / 2 ? *capacity * 2 : n + 64;
	void *bigger;

	if (n <= *capacity)
		return 1;
	bigger = realloc(*array, next * size);
	if (!bigger)
		return 0;
	*array = bigger;
	*capacity = next;
	return 1;
}

static uint32_t add(writer *w, uint16_t op, uint16_t flags, uint32_t type, uint32_t n_args)
{
	pctl_program *q = &w->out->program;
	void *insts = q->insts, *words = q->words;

	w->failed |= w->n_insts - w->begin >= LARGEST;
	if (!w->failed && (!grow(&insts, &w->cap_insts, w->n_insts + 1, sizeof(*q->insts)) ||
			   !grow(&words, &w->cap_words, w->n_words + n_args, sizeof(*q->words))))
		w->failed = 1;
	q->insts = insts;
	q->words = words;
	if (w->failed)
		return 0;
	q->insts[w->n_insts] = (pctl_inst){
		.op = op, .flags = flags, .type = type, .first_arg = w->n_words, .n_args = n_args};
	w->n_words += n_args;
	return w->n_insts++ - w->begin;
}

static void set_arg(writer *w, uint32_t v, uint32_t i, uint32_t word)
{
	const pctl_program *q = &w->out->program;

	if (!w->failed)
		q->words[q->insts[w->begin + v].first_arg + i] = word;
}

static void store(writer *w, uint32_t value, uint32_t local)
{
	const uint32_t v = add(w, PCTL_OP_STORE, 0, 0, 2);

	set_arg(w, v, 0, value);
	set_arg(w, v, 1, local);
}

/* A local of main, and the zero that it begins with at each call; its place. */
static uint32_t add_local(writer *w, const pctl_local *local, int is_called)
{
	pctl_program *q = &w->out->program;
	const uint32_t number = (w->n_locals - w->begin_locals) | PCTL_PLACE_LOCAL;
	void *locals = q->locals;

	if (!grow(&locals, &w->cap_locals, w->n_locals + 1, sizeof(*q->locals)))
		w->failed = 1;
	q->locals = locals;
	if (w->failed)
		return number;
	q->locals[w->n_locals++] = *local;
	if (is_called)
		store(w, add(w, PCTL_OP_ZERO, 0, local->type, 0), number);
	return number;
}

/* Words of a chain are values where they are indices. */
static uint32_t chain_word(const pctl_program *p, uint32_t *type, uint32_t word,
			   const uint32_t *values)
{
	const int is_member = p->types[*type].kind == PCTL_TYPE_STRUCT;

	*type = pctl_type_step(p, *type, word);
	return is_member ? word : values[word];
}

static uint32_t copy(writer *w, const pctl_function *fn, const pctl_inst *in,
		     const uint32_t *values, uint32_t locals)
{
	const pctl_program *p = w->e->p;
	const char *letters = pctl_op_get(in->op)->args;
	const uint32_t v = add(w, in->op, in->flags, in->type, in->n_args);
	pctl_place place;
	uint32_t type;

	for (uint32_t i = 0, k = 0; i < in->n_args && letters[k] && letters[k] != 'g'; i++) {
		const uint32_t word = pctl_arg(p, in, i);

		set_arg(w, v, i, letters[k] == 'v' ? values[word] : word);
		if (letters[k + 1] != '*')
			k++;
	}
	if (!pctl_place_get(p, fn, in, &place))
		return v;
	set_arg(w, v, place.n_values,
		place.root & PCTL_PLACE_LOCAL ? place.root + locals : place.root);
	type = place.root_type;
	for (uint32_t i = 0; i < place.n_chain; i++)
		set_arg(w, v, place.n_values + 1 + i,
			chain_word(p, &type, p->words[place.chain + i], values));
	return v;
}

/* A function that is being written out. */
typedef struct called {
	const pctl_function *fn;
	uint32_t *values;	 /* of its instructions, here */
	uint32_t locals;	 /* where its own begin */
	uint32_t is_early, kept; /* it returns early; its result's place then */
	uint32_t result;
} called;

/* A return: its value is the result, or is kept and leaves the block, but at the very end. */
static void write_return(writer *w, called *c, uint32_t i)
{
	const pctl_inst *in = &w->e->p->insts[c->fn->first_inst + i];

	if (in->n_args)
		c->result = c->values[pctl_arg(w->e->p, in, 0)];
	if (!c->is_early)
		return;
	if (in->n_args)
		store(w, c->result, c->kept);
	if (i + 1 < c->fn->n_insts)
		(void)add(w, PCTL_OP_RETURN, EMIT_INLINED, 0, 0);
}

static void begin_called(writer *w, called *c)
{
	const pctl_local result = {.type = c->fn->return_type};

	if (c->is_early && c->fn->return_type)
		c->kept = add_local(w, &result, 1);
	if (c->is_early)
		(void)add(w, PCTL_OP_BLOCK, EMIT_INLINED, 0, 0);
}

static void end_called(writer *w, called *c)
{
	if (!c->is_early)
		return;
	(void)add(w, PCTL_OP_END_BLOCK, 0, 0, 0);
	if (!c->fn->return_type)
		return;
	c->result = add(w, PCTL_OP_LOAD, 0, c->fn->return_type, 1);
	set_arg(w, c->result, 0, c->kept);
}

/* Function f here; args: its parameters' values. What it returns. */
static uint32_t write_out(writer *w, uint32_t f, const uint32_t *args, int is_called)
{
	const pctl_program *p = w->e->p;
	const pctl_function *fn = &p->functions[f];
	called c = {.fn = fn, .is_early = is_called && w->goes_in[f] == EARLY};
	uint32_t *passed = calloc(fn->n_insts + 1u, sizeof(*passed));

	c.values = calloc(fn->n_insts + 1u, sizeof(*c.values));
	w->failed |= !c.values || !passed;
	begin_called(w, &c);
	c.locals = w->n_locals - w->begin_locals;
	for (uint32_t i = 0; i < fn->n_locals && !w->failed; i++)
		(void)add_local(w, &p->locals[fn->first_local + i], is_called);
	for (uint32_t i = 0; i < fn->n_insts && !w->failed; i++) {
		const pctl_inst *in = &p->insts[fn->first_inst + i];

		if (is_called && in->op == PCTL_OP_PARAM) {
			c.values[i] = args[pctl_arg(p, in, 0)];
		} else if (is_called && in->op == PCTL_OP_RETURN) {
			write_return(w, &c, i);
		} else if (in->op == PCTL_OP_CALL && w->goes_in[pctl_arg(p, in, 0)]) {
			for (uint32_t k = 1; k < in->n_args; k++)
				passed[k - 1] = c.values[pctl_arg(p, in, k)];
			c.values[i] = write_out(w, pctl_arg(p, in, 0), passed, 1);
		} else {
			c.values[i] = copy(w, fn, in, c.values, c.locals);
		}
	}
	end_called(w, &c);
	free(c.values);
	free(passed);
	return c.result;
}

static int returns_early(const pctl_program *p, const pctl_function *fn)
{
	for (uint32_t i = 0; i + 1 < fn->n_insts; i++)
		if (p->insts[fn->first_inst + i].op == PCTL_OP_RETURN)
			return 1;
	return 0;
}

/* It holds a barrier, and, but where all go in, nothing follows a return in it. */
static uint8_t goes_in(const emitter *e, uint32_t f, int all)
{
	const pctl_function *fn = &e->p->functions[f];

	if (f == e->p->entries[0].function || !e->reached[f] || !e->has_barrier[f])
		return 0;
	if (returns_early(e->p, fn))
		return all ? EARLY : 0;
	return 1;
}

static void *copy_of(const void *from, uint32_t n, size_t size)
{
	void *to = malloc(n * size + 1);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

static void begin(writer *w)
{
	const pctl_program *p = w->e->p;
	pctl_program *q = &w->out->program;

	q->origins = NULL;
	q->functions = copy_of(p->functions, p->n_functions, sizeof(*p->functions));
	q->locals = copy_of(p->locals, p->n_locals, sizeof(*p->locals));
	q->insts = copy_of(p->insts, p->n_insts, sizeof(*p->insts));
	q->words = copy_of(p->words, p->n_words, sizeof(*p->words));
	w->failed = !q->functions || !q->locals || !q->insts || !q->words;
	w->n_insts = w->cap_insts = w->begin = p->n_insts;
	w->n_words = w->cap_words = p->n_words;
	w->n_locals = w->cap_locals = w->begin_locals = p->n_locals;
	w->out->owned = 1;
}

static void end(writer *w)
{
	pctl_program *q = &w->out->program;
	pctl_function *fn = &q->functions[q->entries[0].function];

	fn->first_inst = w->begin;
	fn->n_insts = w->n_insts - w->begin;
	fn->first_local = w->begin_locals;
	fn->n_locals = w->n_locals - w->begin_locals;
	q->n_insts = w->n_insts;
	q->n_words = w->n_words;
	q->n_locals = w->n_locals;
}

/* Sides of conditions, cases and loops of main that hold a barrier. */
static uint32_t sides_that_wait(const writer *w)
{
	const pctl_program *q = &w->out->program;
	uint8_t waits[DEPTH_MOST] = {0};
	uint32_t depth = 0, n = 0;

	for (uint32_t i = w->begin; i < w->n_insts; i++) {
		const pctl_inst *in = &q->insts[i];

		if (in->op == PCTL_OP_BARRIER || in->op == PCTL_OP_LOAD_UNIFORM ||
		    (in->op == PCTL_OP_CALL && w->e->has_barrier[pctl_arg(q, in, 0)])) {
			waits[depth] = 1;
		} else if (in->op == PCTL_OP_ELSE || in->op == PCTL_OP_CASE) {
			n += waits[depth];
			if (depth > 0)
				waits[depth - 1] |= waits[depth];
			waits[depth] = 0;
		} else if (emit_opens_region(in->op)) {
			if (depth + 2 > sizeof(waits))
				return UINT32_MAX;
			waits[++depth] = 0;
		} else if (emit_closes_region(in->op)) {
			n += waits[depth] && in->op != PCTL_OP_END_BLOCK;
			waits[depth - 1] |= waits[depth];
			depth--;
		}
	}
	return n;
}

/* Tiles and subgroups are another driver's; their words are not known here. */
static int is_foreign(const pctl_program *p)
{
	return (p->caps & (PCTL_CAP_SUBGROUPS | PCTL_CAP_TILES)) != 0;
}

void emit_inline(const pctl_program *p, int all, emit_inlined *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	emitter e;
	writer w = {.e = &e, .out = out};
	uint32_t any = 0;

	*out = (emit_inlined){.program = *p};
	if (emit_open(&e, p, &quiet) != PCTL_OK || is_foreign(p) ||
	    !(w.goes_in = calloc(p->n_functions + 1u, 1)))
		goto out;
	for (uint32_t f = 1; f < p->n_functions; f++)
		any |= w.goes_in[f] = goes_in(&e, f, all);
	if (!any)
		goto out;
	begin(&w);
	if (!w.failed)
		(void)write_out(&w, p->entries[0].function, NULL, 0);
	if (!w.failed && (all || sides_that_wait(&w) > FEW)) {
		end(&w);
		goto out;
	}
	emit_inlined_free(out);
	*out = (emit_inlined){.program = *p};
out:
	free(w.goes_in);
	emit_close(&e);
}

void emit_inlined_free(emit_inlined *inlined)
{
	if (!inlined->owned)
		return;
	free(inlined->program.functions);
	free(inlined->program.locals);
	free(inlined->program.insts);
	free(inlined->program.words);
	inlined->owned = 0;
}
