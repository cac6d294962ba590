/* Functions, metered: what is added to each body; see contract_module.h. */
#include "chain/contracts/contract_walk.h"

#define OP_UNREACHABLE 0x00
#define OP_BLOCK 0x02
#define OP_IF 0x04
#define OP_BR 0x0c
#define OP_RETURN 0x0f
#define OP_DROP 0x1a
#define OP_SELECT 0x1b
#define OP_LOCAL_GET 0x20
#define OP_LOCAL_TEE 0x22
#define OP_GLOBAL_GET 0x23
#define OP_GLOBAL_SET 0x24
#define OP_MEMORY_GROW 0x40
#define OP_F32_CONST 0x43
#define OP_F64_CONST 0x44
#define OP_I32_LT_S 0x48
#define OP_F32_EQ 0x5b
#define OP_F64_EQ 0x61
#define OP_I32_ADD 0x6a
#define OP_I32_SUB 0x6b
#define UNITS_LEAST 16u

/* ---- bodies -------------------------------------------------------------------------------- */

static void take_targets(module_walk *w)
{
	const uint32_t n = walk_number(w);

	if (WITHIN(w, n, TARGETS))
		for (uint32_t i = 0; i <= n; i++)
			(void)walk_number(w);
}

/* What stands behind an operation's byte. */
static void take_immediates(module_walk *w, uint8_t op)
{
	if (op >= 0x02 && op <= 0x04) {
		const uint8_t type = walk_byte(w);

		if (type != TYPE_NONE && !walk_is_plain(type))
			walk_fail(w, "a block has another type than no or one plain result");
	} else if (op == 0x0c || op == 0x0d || op == 0x10 || (op >= 0x20 && op <= 0x22)) {
		(void)walk_number(w);
	} else if (op == OP_GLOBAL_GET || op == OP_GLOBAL_SET) {
		if (walk_number(w) >= w->n_globals)
			walk_fail(w, "a global is not there");
	} else if (op == 0x0e) {
		take_targets(w);
	} else if (op == 0x11 || (op >= 0x28 && op <= 0x3e)) {
		(void)walk_number(w);
		(void)walk_number(w);
	} else if (op == 0x3f || op == 0x40) {
		(void)walk_byte(w);
	} else if (op == OP_I32_CONST || op == 0x42) {
		walk_skip_signed(w);
	} else if (op == 0x43 || op == 0x44) {
		walk_skip(w, op == 0x43 ? 4 : 8);
	} else if (op == 0xfc) {
		if (walk_number(w) > 7)
			walk_fail(w, "an operation of bulk memory or of tables");
	} else if (!(op <= 0x01 || op == 0x05 || op == OP_END || op == OP_RETURN || op == 0x1a ||
		     op == 0x1b || (op >= 0x45 && op <= 0xc4))) {
		walk_fail(w, "an operation that contracts do not have");
	}
}

/* ---- rewriting ------------------------------------------------------------------------------ */

static void put_local(pctl_str_buf *to, uint8_t op, uint32_t local)
{
	walk_put_byte(to, op);
	walk_put_number(to, local);
}

/* The type of an operation that makes a NaN, which is any that computes: what moves bits (abs, neg, copysign among it) keeps them. 0: it is none. */
static uint8_t makes_nan(uint8_t op)
{
	if ((op >= 0x8d && op <= 0x97) || op == 0xb6)
		return TYPE_F32;
	return (op >= 0x9b && op <= 0xa5) || op == 0xbb ? TYPE_F64 : 0;
}

/* x == x ? x : the canonical NaN. local: the first of two that hold x, an f32 and an f64. */
static void put_canonical(pctl_str_buf *to, uint8_t type, uint32_t local)
{
	static const char nan32[] = "\0\0\xc0\x7f", nan64[] = "\0\0\0\0\0\0\xf8\x7f";
	const int is_f32 = type == TYPE_F32;

	local += !is_f32;
	put_local(to, OP_LOCAL_TEE, local);
	walk_put_byte(to, is_f32 ? OP_F32_CONST : OP_F64_CONST);
	pctl_str_add_n(to, is_f32 ? nan32 : nan64, is_f32 ? 4 : 8);
	put_local(to, OP_LOCAL_GET, local);
	put_local(to, OP_LOCAL_GET, local);
	walk_put_byte(to, is_f32 ? OP_F32_EQ : OP_F64_EQ);
	walk_put_byte(to, OP_SELECT);
}

/* What Wasmtime counts as one costs as much as some dozen operations: so many are counted. */
static void put_ballast(pctl_str_buf *to, uint32_t global)
{
	for (int i = 0; i < 24; i++) {
		put_local(to, OP_GLOBAL_GET, global);
		walk_put_byte(to, OP_DROP);
	}
}

/* What a branch costs who compiles it, for each local: a loop several times as much. */
static uint32_t branching_of(uint8_t op)
{
	return op == 0x03 ? 4 : op == OP_BLOCK || op == OP_IF || (op >= OP_BR && op <= 0x0e);
}

/* Behind an operation: what it does not cost or say of itself. */
static void complete(module_walk *w, uint8_t op, uint32_t n_locals, pctl_str_buf *to)
{
	if (makes_nan(op) != 0) {
		put_canonical(to, makes_nan(op), n_locals);
		w->has_floats = 1;
	} else if (op == OP_MEMORY_GROW) {
		put_ballast(to, w->n_globals);
	}
	w->branching += (uint64_t)branching_of(op) * (n_locals + 1u);
}

/* An expression to its end, whose `end` closes the block around it: `return` leaves that block, as every branch to the function does. */
static void rewrite(module_walk *w, uint32_t n_locals, pctl_str_buf *to)
{
	uint32_t open = 1;

	while (w->bad == NULL && open > 0) {
		const size_t from = w->at;
		const uint8_t op = walk_byte(w);

		take_immediates(w, op);
		if (w->bad != NULL)
			return;
		if (op >= 0x02 && op <= 0x04 && !WITHIN(w, ++open, NESTING))
			return;
		if (op == OP_END)
			open--;
		if (op == OP_RETURN) {
			walk_put_byte(to, OP_BR);
			walk_put_number(to, open - 1);
		} else {
			pctl_str_add_n(to, (const char *)w->bytes + from, w->at - from);
		}
		complete(w, op, n_locals, to);
	}
}

static void take_units(pctl_str_buf *to, uint32_t global, uint32_t units)
{
	walk_put_byte(to, OP_GLOBAL_GET);
	walk_put_number(to, global);
	walk_put_byte(to, OP_I32_CONST);
	walk_put_signed(to, units);
	walk_put_byte(to, OP_I32_SUB);
	walk_put_byte(to, OP_GLOBAL_SET);
	walk_put_number(to, global);
	walk_put_byte(to, OP_GLOBAL_GET);
	walk_put_number(to, global);
	walk_put_byte(to, OP_I32_CONST);
	walk_put_signed(to, 0);
	walk_put_byte(to, OP_I32_LT_S);
	walk_put_byte(to, OP_IF);
	walk_put_byte(to, TYPE_NONE);
	walk_put_byte(to, OP_UNREACHABLE);
	walk_put_byte(to, OP_END);
}

static void give_units(pctl_str_buf *to, uint32_t global, uint32_t units)
{
	walk_put_byte(to, OP_GLOBAL_GET);
	walk_put_number(to, global);
	walk_put_byte(to, OP_I32_CONST);
	walk_put_signed(to, units);
	walk_put_byte(to, OP_I32_ADD);
	walk_put_byte(to, OP_GLOBAL_SET);
	walk_put_number(to, global);
}

/* The declarations of locals: `groups` of them, whose bytes are copied; how many locals there are. */
static uint64_t copy_locals(module_walk *w, pctl_str_buf *to, uint32_t *groups)
{
	const uint32_t n = *groups = walk_number(w);
	const size_t from = w->at;
	uint64_t all = 0;

	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		all += walk_number(w);
		if (!walk_is_plain(walk_byte(w)))
			walk_fail(w, "a local is no i32, i64, f32 or f64");
	}
	if (w->bad == NULL)
		pctl_str_add_n(to, (const char *)w->bytes + from, w->at - from);
	return all;
}

/* A function made of its parts: locals, two more where it has floats; units taken; its expression as a block; units given. */
static void put_body(const module_walk *w, const module_function *t, uint32_t units,
		     uint32_t groups, const pctl_str_buf *locals, const pctl_str_buf *code,
		     pctl_str_buf *to)
{
	pctl_str_buf body = PCTL_STR_BUF_INIT;

	walk_put_number(&body, groups + (w->has_floats ? 2u : 0u));
	pctl_str_add_n(&body, locals->data == NULL ? "" : locals->data, locals->n);
	if (w->has_floats)
		pctl_str_add_n(&body, "\1\x7d\1\x7c", 4);
	take_units(&body, w->n_globals, units);
	walk_put_byte(&body, OP_BLOCK);
	walk_put_byte(&body, t->result);
	pctl_str_add_n(&body, code->data == NULL ? "" : code->data, code->n);
	give_units(&body, w->n_globals, units);
	walk_put_byte(&body, OP_END);
	walk_put_number(to, body.n);
	pctl_str_add_n(to, body.data == NULL ? "" : body.data, body.n);
	to->failed |= body.failed | locals->failed | code->failed;
	pctl_str_drop(&body);
}

static void meter_body(module_walk *w, uint32_t which, pctl_str_buf *to)
{
	const uint32_t n = walk_number(w);
	const size_t end = w->at + n;
	pctl_str_buf locals = PCTL_STR_BUF_INIT, code = PCTL_STR_BUF_INIT;
	const module_function *t;
	uint32_t groups;
	uint64_t n_locals;

	if (!WITHIN(w, n, BODY) || n > w->n - w->at) {
		walk_fail(w, "it ends too early");
		return;
	}
	t = &w->types[w->functions[which]];
	n_locals = copy_locals(w, &locals, &groups) + t->n_parameters;
	w->has_floats = 0;
	if (WITHIN(w, n_locals, LOCALS))
		rewrite(w, (uint32_t)n_locals, &code);
	(void)WITHIN(w, w->branching, BRANCHING);
	if (w->bad == NULL && w->at != end)
		walk_fail(w, "a body does not end where it says");
	if (w->bad == NULL)
		put_body(w, t, UNITS_LEAST + (uint32_t)n_locals + n / 2, groups, &locals, &code,
			 to);
	pctl_str_drop(&locals);
	pctl_str_drop(&code);
}

void walk_code(module_walk *w, pctl_str_buf *to)
{
	const uint32_t n = walk_number(w);

	w->n_defined = w->n_functions - w->n_imported;
	if (n != w->n_defined)
		walk_fail(w, "as many bodies as functions are missing or too many");
	walk_put_number(to, n);
	for (uint32_t i = 0; w->bad == NULL && i < n; i++)
		meter_body(w, w->n_imported + i, to);
}
