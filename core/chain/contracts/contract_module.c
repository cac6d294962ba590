/* The walk over a module's sections and bodies; see contract_module.h. Wasm's binary format, version 1. */
#include "chain/contracts/contract_module.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"

enum {
	SECTION_TYPE = 1,
	SECTION_IMPORT,
	SECTION_FUNCTION,
	SECTION_TABLE,
	SECTION_MEMORY,
	SECTION_GLOBAL,
	SECTION_EXPORT,
	SECTION_START,
	SECTION_ELEMENT,
	SECTION_CODE,
	SECTION_DATA,
	SECTION_DATA_COUNT
};

enum { KIND_FUNCTION = 0, KIND_TABLE, KIND_MEMORY, KIND_GLOBAL };

#define OP_UNREACHABLE 0x00
#define OP_BLOCK 0x02
#define OP_IF 0x04
#define OP_END 0x0b
#define OP_BR 0x0c
#define OP_RETURN 0x0f
#define OP_DROP 0x1a
#define OP_SELECT 0x1b
#define OP_LOCAL_GET 0x20
#define OP_LOCAL_TEE 0x22
#define OP_GLOBAL_GET 0x23
#define OP_GLOBAL_SET 0x24
#define OP_MEMORY_GROW 0x40
#define OP_I32_CONST 0x41
#define OP_F32_CONST 0x43
#define OP_F64_CONST 0x44
#define OP_I32_LT_S 0x48
#define OP_F32_EQ 0x5b
#define OP_F64_EQ 0x61
#define OP_I32_ADD 0x6a
#define OP_I32_SUB 0x6b
#define TYPE_I32 0x7f
#define TYPE_F32 0x7d
#define TYPE_F64 0x7c
#define TYPE_NONE 0x40
#define UNITS_LEAST 16u

typedef struct function_type {
	const uint8_t *parameters;
	uint32_t n_parameters;
	uint8_t result, reserved[3]; /* TYPE_NONE: there is none */
} function_type;

/* A module being walked. bad: what is wrong with it, the first thing. wanted: an export that is looked for. */
typedef struct walk {
	const uint8_t *bytes;
	size_t n, at;
	const char *bad;
	uint64_t found, most; /* of a limit; most 0: it is none */
	function_type *types;
	uint32_t *functions; /* of which type: imported ones first */
	uint32_t n_types, n_functions, n_imported, n_defined, n_globals, has_memory;
	uint32_t lacks_memory, has_floats; /* has_floats: the body that is rewritten */
	uint64_t branching;		   /* of the module so far, times locals */
	const char *wanted, *parameters, *result;
	int is_found;
} walk;

/* ---- bytes --------------------------------------------------------------------------------- */

static int fail(walk *w, const char *why)
{
	if (w->bad == NULL)
		w->bad = why;
	w->at = w->n;
	return 0;
}

static int within(walk *w, uint64_t found, uint64_t most, const char *what)
{
	if (found <= most)
		return w->bad == NULL;
	if (w->bad == NULL) {
		w->found = found;
		w->most = most;
	}
	return fail(w, what);
}

static const char *const limit_names[] = {
#define CONTRACT_LIMIT(id, name, most) name,
#include "chain/contracts/contract_limits.def"
#undef CONTRACT_LIMIT
};
enum {
#define CONTRACT_LIMIT(id, name, most) LIMIT_##id,
#include "chain/contracts/contract_limits.def"
#undef CONTRACT_LIMIT
};
#define WITHIN(w, found, id) within(w, found, PCTL_CONTRACT_##id##_MAX, limit_names[LIMIT_##id])

static uint8_t byte(walk *w)
{
	if (w->at < w->n)
		return w->bytes[w->at++];
	fail(w, "it ends too early");
	return 0;
}

static uint32_t too_large(walk *w)
{
	fail(w, "a number is too large");
	return 0;
}

static uint32_t number(walk *w)
{
	uint64_t v = 0;

	for (uint32_t shift = 0; shift < 35; shift += 7) {
		const uint8_t b = byte(w);

		v |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80)
			return v <= UINT32_MAX ? (uint32_t)v : too_large(w);
	}
	fail(w, "a number is too long");
	return 0;
}

static void skip_signed(walk *w)
{
	for (int i = 0; i < 10; i++)
		if (byte(w) < 0x80)
			return;
	fail(w, "a number is too long");
}

static void skip(walk *w, uint64_t n)
{
	if (n > w->n - w->at)
		fail(w, "it ends too early");
	else
		w->at += (size_t)n;
}

static int name_is(const uint8_t *name, uint32_t n, const char *text)
{
	return strlen(text) == n && memcmp(name, text, n) == 0;
}

/* n bytes of a name, inside the module also where it is bad. */
static const uint8_t *name_of(walk *w, uint32_t *n)
{
	const uint8_t *at;

	*n = number(w);
	at = w->bytes + w->at;
	skip(w, *n);
	if (w->bad != NULL)
		*n = 0;
	return at;
}

static void put_number(pctl_str_buf *to, uint64_t v)
{
	char byte_of;

	for (; v >= 0x80; v >>= 7) {
		byte_of = (char)(v | 0x80);
		pctl_str_add_n(to, &byte_of, 1);
	}
	byte_of = (char)v;
	pctl_str_add_n(to, &byte_of, 1);
}

/* A signed number that is not below zero. */
static void put_signed(pctl_str_buf *to, uint32_t v)
{
	char byte_of;

	for (; v >= 0x40; v >>= 7) {
		byte_of = (char)(v | 0x80);
		pctl_str_add_n(to, &byte_of, 1);
	}
	byte_of = (char)v;
	pctl_str_add_n(to, &byte_of, 1);
}

static void put_byte(pctl_str_buf *to, uint8_t v)
{
	const char c = (char)v;

	pctl_str_add_n(to, &c, 1);
}

/* ---- sections ------------------------------------------------------------------------------ */

static int is_plain(uint8_t type)
{
	return type <= TYPE_I32 && type >= TYPE_F64;
}

static void read_types(walk *w)
{
	const uint32_t n = number(w);

	if (!WITHIN(w, n, TYPES))
		return;
	w->types = calloc(n + 1u, sizeof(*w->types));
	w->lacks_memory |= w->types == NULL;
	for (uint32_t i = 0; w->types != NULL && w->bad == NULL && i < n; i++) {
		function_type *t = &w->types[w->n_types++];
		uint32_t n_results;

		if (byte(w) != 0x60)
			fail(w, "a type is none of a function");
		t->n_parameters = number(w);
		if (!WITHIN(w, t->n_parameters, PARAMETERS))
			return;
		t->parameters = w->bytes + w->at;
		for (uint32_t k = 0; k < t->n_parameters; k++)
			if (!is_plain(byte(w)))
				fail(w, "a parameter is no i32, i64, f32 or f64");
		n_results = number(w);
		t->result = TYPE_NONE;
		if (n_results > 1)
			fail(w, "a function has more than one result");
		else if (n_results == 1 && !is_plain(t->result = byte(w)))
			fail(w, "a result is no i32, i64, f32 or f64");
	}
}

static int letter_of(uint8_t type)
{
	return type == TYPE_I32 ? 'i' : type == 0x7e ? 'I' : '?';
}

static int type_is(const function_type *t, const char *parameters, const char *result)
{
	if (strlen(parameters) != t->n_parameters ||
	    (result[0] == '\0') != (t->result == TYPE_NONE) ||
	    (result[0] != '\0' && letter_of(t->result) != result[0]))
		return 0;
	for (uint32_t i = 0; i < t->n_parameters; i++)
		if (letter_of(t->parameters[i]) != parameters[i])
			return 0;
	return 1;
}

static int is_import(const uint8_t *name, uint32_t n, const function_type *t)
{
	static const struct {
		const char *name, *parameters, *result;
	} imports[] = {
#define CONTRACT_IMPORT(name, parameters, result) {#name, parameters, result},
#include "chain/contracts/contract_imports.def"
#undef CONTRACT_IMPORT
	};

	for (uint32_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		if (name_is(name, n, imports[i].name))
			return type_is(t, imports[i].parameters, imports[i].result);
	return 0;
}

static void add_function(walk *w, uint32_t type)
{
	if (type >= w->n_types)
		fail(w, "a function is of a type that is not there");
	if (w->functions == NULL)
		w->functions = calloc(PCTL_CONTRACT_FUNCTIONS_MAX + 1u, sizeof(*w->functions));
	w->lacks_memory |= w->functions == NULL;
	if (w->functions != NULL && WITHIN(w, w->n_functions + 1u, FUNCTIONS))
		w->functions[w->n_functions++] = type;
}

static void read_imports(walk *w)
{
	const uint32_t n = number(w);

	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		uint32_t n_from, n_name, type;
		const uint8_t *from = name_of(w, &n_from), *name = name_of(w, &n_name);

		if (!name_is(from, n_from, "pipectl"))
			fail(w, "it imports from another module than \"pipectl\"");
		if (byte(w) != KIND_FUNCTION)
			fail(w, "it imports something else than a function");
		type = number(w);
		if (w->bad == NULL &&
		    (type >= w->n_types || !is_import(name, n_name, &w->types[type])))
			fail(w, "it imports a function that there is not, or as another type");
		add_function(w, type);
	}
	w->n_imported = w->n_functions;
}

static void read_functions(walk *w)
{
	const uint32_t n = number(w);

	for (uint32_t i = 0; w->bad == NULL && i < n; i++)
		add_function(w, number(w));
}

/* The least size of a memory or table. */
static uint32_t limits_of(walk *w)
{
	const uint8_t flags = byte(w);
	const uint32_t least = number(w);

	if (flags > 1)
		fail(w, "a memory or table is shared or of 64 bits");
	if (flags == 1)
		(void)number(w);
	return least;
}

static void read_tables(walk *w)
{
	if (number(w) > 1)
		fail(w, "it has more than one table");
	else if (byte(w) != 0x70)
		fail(w, "a table is none of functions");
	else
		(void)WITHIN(w, limits_of(w), ELEMENTS);
}

static void read_memories(walk *w)
{
	if (number(w) > 1)
		fail(w, "it has more than one memory");
	else
		(void)WITHIN(w, limits_of(w), PAGES);
}

static void read_exports(walk *w)
{
	const uint32_t n = number(w);

	(void)WITHIN(w, n, EXPORTS);
	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		uint32_t n_name, index;
		const uint8_t *name = name_of(w, &n_name);
		const uint8_t kind = byte(w);

		index = number(w);
		if (kind == KIND_MEMORY && name_is(name, n_name, "memory"))
			w->has_memory = 1;
		if (kind == KIND_GLOBAL && index >= w->n_globals)
			fail(w, "it exports a global that is not there");
		if (kind == KIND_FUNCTION && w->wanted != NULL && index < w->n_functions &&
		    name_is(name, n_name, w->wanted))
			w->is_found =
				type_is(&w->types[w->functions[index]], w->parameters, w->result);
	}
}

/* ---- bodies -------------------------------------------------------------------------------- */

static void take_targets(walk *w)
{
	const uint32_t n = number(w);

	if (WITHIN(w, n, TARGETS))
		for (uint32_t i = 0; i <= n; i++)
			(void)number(w);
}

/* What stands behind an operation's byte. */
static void take_immediates(walk *w, uint8_t op)
{
	if (op >= 0x02 && op <= 0x04) {
		const uint8_t type = byte(w);

		if (type != TYPE_NONE && !is_plain(type))
			fail(w, "a block has another type than no or one plain result");
	} else if (op == 0x0c || op == 0x0d || op == 0x10 || (op >= 0x20 && op <= 0x22)) {
		(void)number(w);
	} else if (op == OP_GLOBAL_GET || op == OP_GLOBAL_SET) {
		if (number(w) >= w->n_globals)
			fail(w, "a global is not there");
	} else if (op == 0x0e) {
		take_targets(w);
	} else if (op == 0x11 || (op >= 0x28 && op <= 0x3e)) {
		(void)number(w);
		(void)number(w);
	} else if (op == 0x3f || op == 0x40) {
		(void)byte(w);
	} else if (op == OP_I32_CONST || op == 0x42) {
		skip_signed(w);
	} else if (op == 0x43 || op == 0x44) {
		skip(w, op == 0x43 ? 4 : 8);
	} else if (op == 0xfc) {
		if (number(w) > 7)
			fail(w, "an operation of bulk memory or of tables");
	} else if (!(op <= 0x01 || op == 0x05 || op == OP_END || op == OP_RETURN || op == 0x1a ||
		     op == 0x1b || (op >= 0x45 && op <= 0xc4))) {
		fail(w, "an operation that contracts do not have");
	}
}

/* ---- rewriting ------------------------------------------------------------------------------ */

static void put_local(pctl_str_buf *to, uint8_t op, uint32_t local)
{
	put_byte(to, op);
	put_number(to, local);
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
	put_byte(to, is_f32 ? OP_F32_CONST : OP_F64_CONST);
	pctl_str_add_n(to, is_f32 ? nan32 : nan64, is_f32 ? 4 : 8);
	put_local(to, OP_LOCAL_GET, local);
	put_local(to, OP_LOCAL_GET, local);
	put_byte(to, is_f32 ? OP_F32_EQ : OP_F64_EQ);
	put_byte(to, OP_SELECT);
}

/* What Wasmtime counts as one costs as much as some dozen operations: so many are counted. */
static void put_ballast(pctl_str_buf *to, uint32_t global)
{
	for (int i = 0; i < 24; i++) {
		put_local(to, OP_GLOBAL_GET, global);
		put_byte(to, OP_DROP);
	}
}

/* What a branch costs who compiles it, for each local: a loop several times as much. */
static uint32_t branching_of(uint8_t op)
{
	return op == 0x03 ? 4 : op == OP_BLOCK || op == OP_IF || (op >= OP_BR && op <= 0x0e);
}

/* Behind an operation: what it does not cost or say of itself. */
static void complete(walk *w, uint8_t op, uint32_t n_locals, pctl_str_buf *to)
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
static void rewrite(walk *w, uint32_t n_locals, pctl_str_buf *to)
{
	uint32_t open = 1;

	while (w->bad == NULL && open > 0) {
		const size_t from = w->at;
		const uint8_t op = byte(w);

		take_immediates(w, op);
		if (w->bad != NULL)
			return;
		if (op >= 0x02 && op <= 0x04 && !WITHIN(w, ++open, NESTING))
			return;
		if (op == OP_END)
			open--;
		if (op == OP_RETURN) {
			put_byte(to, OP_BR);
			put_number(to, open - 1);
		} else {
			pctl_str_add_n(to, (const char *)w->bytes + from, w->at - from);
		}
		complete(w, op, n_locals, to);
	}
}

static void take_units(pctl_str_buf *to, uint32_t global, uint32_t units)
{
	put_byte(to, OP_GLOBAL_GET);
	put_number(to, global);
	put_byte(to, OP_I32_CONST);
	put_signed(to, units);
	put_byte(to, OP_I32_SUB);
	put_byte(to, OP_GLOBAL_SET);
	put_number(to, global);
	put_byte(to, OP_GLOBAL_GET);
	put_number(to, global);
	put_byte(to, OP_I32_CONST);
	put_signed(to, 0);
	put_byte(to, OP_I32_LT_S);
	put_byte(to, OP_IF);
	put_byte(to, TYPE_NONE);
	put_byte(to, OP_UNREACHABLE);
	put_byte(to, OP_END);
}

static void give_units(pctl_str_buf *to, uint32_t global, uint32_t units)
{
	put_byte(to, OP_GLOBAL_GET);
	put_number(to, global);
	put_byte(to, OP_I32_CONST);
	put_signed(to, units);
	put_byte(to, OP_I32_ADD);
	put_byte(to, OP_GLOBAL_SET);
	put_number(to, global);
}

/* The declarations of locals: `groups` of them, whose bytes are copied; how many locals there are. */
static uint64_t copy_locals(walk *w, pctl_str_buf *to, uint32_t *groups)
{
	const uint32_t n = *groups = number(w);
	const size_t from = w->at;
	uint64_t all = 0;

	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		all += number(w);
		if (!is_plain(byte(w)))
			fail(w, "a local is no i32, i64, f32 or f64");
	}
	if (w->bad == NULL)
		pctl_str_add_n(to, (const char *)w->bytes + from, w->at - from);
	return all;
}

/* A function made of its parts: locals, two more where it has floats; units taken; its expression as a block; units given. */
static void put_body(const walk *w, const function_type *t, uint32_t units, uint32_t groups,
		     const pctl_str_buf *locals, const pctl_str_buf *code, pctl_str_buf *to)
{
	pctl_str_buf body = PCTL_STR_BUF_INIT;

	put_number(&body, groups + (w->has_floats ? 2u : 0u));
	pctl_str_add_n(&body, locals->data == NULL ? "" : locals->data, locals->n);
	if (w->has_floats)
		pctl_str_add_n(&body, "\1\x7d\1\x7c", 4);
	take_units(&body, w->n_globals, units);
	put_byte(&body, OP_BLOCK);
	put_byte(&body, t->result);
	pctl_str_add_n(&body, code->data == NULL ? "" : code->data, code->n);
	give_units(&body, w->n_globals, units);
	put_byte(&body, OP_END);
	put_number(to, body.n);
	pctl_str_add_n(to, body.data == NULL ? "" : body.data, body.n);
	to->failed |= body.failed | locals->failed | code->failed;
	pctl_str_drop(&body);
}

static void meter_body(walk *w, uint32_t which, pctl_str_buf *to)
{
	const uint32_t n = number(w);
	const size_t end = w->at + n;
	pctl_str_buf locals = PCTL_STR_BUF_INIT, code = PCTL_STR_BUF_INIT;
	const function_type *t;
	uint32_t groups;
	uint64_t n_locals;

	if (!WITHIN(w, n, BODY) || n > w->n - w->at) {
		fail(w, "it ends too early");
		return;
	}
	t = &w->types[w->functions[which]];
	n_locals = copy_locals(w, &locals, &groups) + t->n_parameters;
	w->has_floats = 0;
	if (WITHIN(w, n_locals, LOCALS))
		rewrite(w, (uint32_t)n_locals, &code);
	(void)WITHIN(w, w->branching, BRANCHING);
	if (w->bad == NULL && w->at != end)
		fail(w, "a body does not end where it says");
	if (w->bad == NULL)
		put_body(w, t, UNITS_LEAST + (uint32_t)n_locals + n / 2, groups, &locals, &code,
			 to);
	pctl_str_drop(&locals);
	pctl_str_drop(&code);
}

static void meter_code(walk *w, pctl_str_buf *to)
{
	const uint32_t n = number(w);

	w->n_defined = w->n_functions - w->n_imported;
	if (n != w->n_defined)
		fail(w, "as many bodies as functions are missing or too many");
	put_number(to, n);
	for (uint32_t i = 0; w->bad == NULL && i < n; i++)
		meter_body(w, w->n_imported + i, to);
}

/* The module's own globals, and behind them the one that counts. */
static void put_globals(pctl_str_buf *to, const uint8_t *own, size_t n_own, uint32_t n)
{
	put_number(to, n + 1u);
	pctl_str_add_n(to, (const char *)own, n_own);
	put_byte(to, TYPE_I32);
	put_byte(to, 1);
	put_byte(to, OP_I32_CONST);
	put_signed(to, PCTL_CONTRACT_DEPTH);
	put_byte(to, OP_END);
}

/* ---- the module ---------------------------------------------------------------------------- */

static void read_section(walk *w, uint8_t id, pctl_str_buf *to)
{
	const size_t from = w->at;

	switch (id) {
	case SECTION_TYPE:
		read_types(w);
		break;
	case SECTION_IMPORT:
		read_imports(w);
		break;
	case SECTION_FUNCTION:
		read_functions(w);
		break;
	case SECTION_TABLE:
		read_tables(w);
		break;
	case SECTION_MEMORY:
		read_memories(w);
		break;
	case SECTION_GLOBAL:
		w->n_globals = number(w);
		(void)WITHIN(w, w->n_globals, GLOBALS);
		if (w->bad == NULL)
			put_globals(to, w->bytes + w->at, w->n - w->at, w->n_globals);
		w->at = w->n;
		return;
	case SECTION_EXPORT:
		read_exports(w);
		break;
	case SECTION_ELEMENT:
	case SECTION_DATA:
		(void)WITHIN(w, number(w), SEGMENTS);
		w->at = w->n;
		break;
	case SECTION_CODE:
		meter_code(w, to);
		return;
	default:
		w->at = w->n;
		break;
	}
	if (w->bad == NULL)
		pctl_str_add_n(to, (const char *)w->bytes + from, w->n - from);
}

static void put_section(pctl_str_buf *to, uint8_t id, const pctl_str_buf *body)
{
	put_byte(to, id);
	put_number(to, body->n);
	pctl_str_add_n(to, body->data == NULL ? "" : body->data, body->n);
	to->failed |= body->failed;
}

/* One section within its own bounds. */
static void take_section(walk *w, uint8_t id, uint32_t n, pctl_str_buf *to)
{
	const size_t all = w->n, end = w->at + n;
	pctl_str_buf body = PCTL_STR_BUF_INIT;

	w->n = end;
	read_section(w, id, &body);
	if (w->bad == NULL && w->at != end)
		fail(w, "a section does not end where it says");
	w->n = all;
	w->at = w->bad == NULL ? end : all;
	if (w->bad == NULL)
		put_section(to, id, &body);
	pctl_str_drop(&body);
}

static void add_global_section(pctl_str_buf *to)
{
	pctl_str_buf body = PCTL_STR_BUF_INIT;

	put_globals(&body, (const uint8_t *)"", 0, 0);
	put_section(to, SECTION_GLOBAL, &body);
	pctl_str_drop(&body);
}

/* Where a section stands among the others; 0: it has no place here. */
static uint32_t place_of(uint8_t id)
{
	static const uint8_t order[] = {
		SECTION_TYPE,	 SECTION_IMPORT,     SECTION_FUNCTION, SECTION_TABLE,
		SECTION_MEMORY,	 SECTION_GLOBAL,     SECTION_EXPORT,   SECTION_START,
		SECTION_ELEMENT, SECTION_DATA_COUNT, SECTION_CODE,     SECTION_DATA,
	};

	for (uint32_t i = 0; i < sizeof(order); i++)
		if (order[i] == id)
			return i + 1;
	return 0;
}

static void walk_sections(walk *w, pctl_str_buf *to)
{
	uint32_t before = 0, has_globals = 0;

	if (w->n < 8 || memcmp(w->bytes, "\0asm\1\0\0\0", 8) != 0)
		fail(w, "it does not begin as a module of version 1 does");
	else
		w->at = 8;
	pctl_str_add_n(to, "\0asm\1\0\0\0", 8);
	while (w->bad == NULL && w->at < w->n) {
		const uint8_t id = byte(w);
		const uint32_t n = number(w), place = place_of(id);

		if (n > w->n - w->at)
			fail(w, "it ends too early");
		if (w->bad != NULL || id == 0) {
			skip(w, n);
			continue;
		}
		if (place <= before)
			fail(w, "a section is not in its place, or there twice");
		if (!has_globals && place > place_of(SECTION_GLOBAL))
			add_global_section(to);
		has_globals |= place >= place_of(SECTION_GLOBAL);
		before = place;
		if (w->bad == NULL)
			take_section(w, id, n, to);
	}
}

static void end_walk(walk *w)
{
	free(w->types);
	free(w->functions);
}

pctl_status pctl_contract_meter(const uint8_t *module, size_t n, const pctl_call *call,
				uint8_t **out, size_t *n_out)
{
	walk w = {.bytes = module, .n = n};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	*out = NULL;
	*n_out = 0;
	walk_sections(&w, &text);
	if (w.bad == NULL && !w.has_memory)
		fail(&w, "it exports no memory of the name \"memory\"");
	end_walk(&w);
	if (w.lacks_memory || text.failed)
		status = pctl_no_memory(call, "a module");
	else if (w.bad != NULL && w.most != 0)
		status = pctl_refuse(call, PC6121_CONTRACT_MODULE,
				     "%" PRIu64 " %s, at most %" PRIu64, w.found, w.bad, w.most);
	else if (w.bad != NULL)
		status = pctl_refuse(call, PC6121_CONTRACT_MODULE, "%s", w.bad);
	if (status != PCTL_OK) {
		pctl_str_drop(&text);
		return status;
	}
	*n_out = text.n;
	*out = (uint8_t *)pctl_str_finish(&text);
	return *out == NULL ? pctl_no_memory(call, "a module") : PCTL_OK;
}

int pctl_contract_has(const uint8_t *module, size_t n, const char *name, const char *parameters,
		      const char *result)
{
	walk w = {.bytes = module,
		  .n = n,
		  .wanted = name,
		  .parameters = parameters,
		  .result = result};
	pctl_str_buf text = PCTL_STR_BUF_INIT;

	walk_sections(&w, &text);
	pctl_str_drop(&text);
	end_walk(&w);
	return w.bad == NULL && w.is_found;
}
