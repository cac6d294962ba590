/* The walk over a module's sections and bodies; see contract_module.h. Wasm's binary format, version 1. */
#include "chain/contracts/contract_walk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

static int name_is(const uint8_t *name, uint32_t n, const char *text)
{
	return strlen(text) == n && memcmp(name, text, n) == 0;
}

/* n bytes of a name, inside the module also where it is bad. */
static const uint8_t *name_of(module_walk *w, uint32_t *n)
{
	const uint8_t *at;

	*n = walk_number(w);
	at = w->bytes + w->at;
	walk_skip(w, *n);
	if (w->bad != NULL)
		*n = 0;
	return at;
}

/* ---- sections ------------------------------------------------------------------------------ */

static void read_types(module_walk *w)
{
	const uint32_t n = walk_number(w);

	if (!WITHIN(w, n, TYPES))
		return;
	w->types = calloc(n + 1u, sizeof(*w->types));
	w->lacks_memory |= w->types == NULL;
	for (uint32_t i = 0; w->types != NULL && w->bad == NULL && i < n; i++) {
		module_function *t = &w->types[w->n_types++];
		uint32_t n_results;

		if (walk_byte(w) != 0x60)
			walk_fail(w, "a type is none of a function");
		t->n_parameters = walk_number(w);
		if (!WITHIN(w, t->n_parameters, PARAMETERS))
			return;
		t->parameters = w->bytes + w->at;
		for (uint32_t k = 0; k < t->n_parameters; k++)
			if (!walk_is_plain(walk_byte(w)))
				walk_fail(w, "a parameter is no i32, i64, f32 or f64");
		n_results = walk_number(w);
		t->result = TYPE_NONE;
		if (n_results > 1)
			walk_fail(w, "a function has more than one result");
		else if (n_results == 1 && !walk_is_plain(t->result = walk_byte(w)))
			walk_fail(w, "a result is no i32, i64, f32 or f64");
	}
}

static int letter_of(uint8_t type)
{
	return type == TYPE_I32 ? 'i' : type == 0x7e ? 'I' : '?';
}

static int type_is(const module_function *t, const char *parameters, const char *result)
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

static int is_import(const uint8_t *name, uint32_t n, const module_function *t)
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

static void add_function(module_walk *w, uint32_t type)
{
	if (type >= w->n_types)
		walk_fail(w, "a function is of a type that is not there");
	if (w->functions == NULL)
		w->functions = calloc(PCTL_CONTRACT_FUNCTIONS_MAX + 1u, sizeof(*w->functions));
	w->lacks_memory |= w->functions == NULL;
	if (w->functions != NULL && WITHIN(w, w->n_functions + 1u, FUNCTIONS))
		w->functions[w->n_functions++] = type;
}

static void read_imports(module_walk *w)
{
	const uint32_t n = walk_number(w);

	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		uint32_t n_from, n_name, type;
		const uint8_t *from = name_of(w, &n_from), *name = name_of(w, &n_name);

		if (!name_is(from, n_from, "pipectl"))
			walk_fail(w, "it imports from another module than \"pipectl\"");
		if (walk_byte(w) != KIND_FUNCTION)
			walk_fail(w, "it imports something else than a function");
		type = walk_number(w);
		if (w->bad == NULL &&
		    (type >= w->n_types || !is_import(name, n_name, &w->types[type])))
			walk_fail(w, "it imports a function that there is not, or as another type");
		add_function(w, type);
	}
	w->n_imported = w->n_functions;
}

static void read_functions(module_walk *w)
{
	const uint32_t n = walk_number(w);

	for (uint32_t i = 0; w->bad == NULL && i < n; i++)
		add_function(w, walk_number(w));
}

/* The least size of a memory or table. */
static uint32_t limits_of(module_walk *w)
{
	const uint8_t flags = walk_byte(w);
	const uint32_t least = walk_number(w);

	if (flags > 1)
		walk_fail(w, "a memory or table is shared or of 64 bits");
	if (flags == 1)
		(void)walk_number(w);
	return least;
}

static void read_tables(module_walk *w)
{
	if (walk_number(w) > 1)
		walk_fail(w, "it has more than one table");
	else if (walk_byte(w) != 0x70)
		walk_fail(w, "a table is none of functions");
	else
		(void)WITHIN(w, limits_of(w), ELEMENTS);
}

static void read_memories(module_walk *w)
{
	if (walk_number(w) > 1)
		walk_fail(w, "it has more than one memory");
	else
		(void)WITHIN(w, limits_of(w), PAGES);
}

static void read_exports(module_walk *w)
{
	const uint32_t n = walk_number(w);

	(void)WITHIN(w, n, EXPORTS);
	for (uint32_t i = 0; w->bad == NULL && i < n; i++) {
		uint32_t n_name, index;
		const uint8_t *name = name_of(w, &n_name);
		const uint8_t kind = walk_byte(w);

		index = walk_number(w);
		if (kind == KIND_MEMORY && name_is(name, n_name, "memory"))
			w->has_memory = 1;
		if (kind == KIND_GLOBAL && index >= w->n_globals)
			walk_fail(w, "it exports a global that is not there");
		if (kind == KIND_FUNCTION && w->wanted != NULL && index < w->n_functions &&
		    name_is(name, n_name, w->wanted))
			w->is_found =
				type_is(&w->types[w->functions[index]], w->parameters, w->result);
	}
}

/* The module's own globals, and behind them the one that counts. */
static void put_globals(pctl_str_buf *to, const uint8_t *own, size_t n_own, uint32_t n)
{
	walk_put_number(to, n + 1u);
	pctl_str_add_n(to, (const char *)own, n_own);
	walk_put_byte(to, TYPE_I32);
	walk_put_byte(to, 1);
	walk_put_byte(to, OP_I32_CONST);
	walk_put_signed(to, PCTL_CONTRACT_DEPTH);
	walk_put_byte(to, OP_END);
}

/* ---- the module ---------------------------------------------------------------------------- */

static void read_section(module_walk *w, uint8_t id, pctl_str_buf *to)
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
		w->n_globals = walk_number(w);
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
		(void)WITHIN(w, walk_number(w), SEGMENTS);
		w->at = w->n;
		break;
	case SECTION_CODE:
		walk_code(w, to);
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
	walk_put_byte(to, id);
	walk_put_number(to, body->n);
	pctl_str_add_n(to, body->data == NULL ? "" : body->data, body->n);
	to->failed |= body->failed;
}

/* One section within its own bounds. */
static void take_section(module_walk *w, uint8_t id, uint32_t n, pctl_str_buf *to)
{
	const size_t all = w->n, end = w->at + n;
	pctl_str_buf body = PCTL_STR_BUF_INIT;

	w->n = end;
	read_section(w, id, &body);
	if (w->bad == NULL && w->at != end)
		walk_fail(w, "a section does not end where it says");
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

static void walk_sections(module_walk *w, pctl_str_buf *to)
{
	uint32_t before = 0, has_globals = 0;

	if (w->n < 8 || memcmp(w->bytes, "\0asm\1\0\0\0", 8) != 0)
		walk_fail(w, "it does not begin as a module of version 1 does");
	else
		w->at = 8;
	pctl_str_add_n(to, "\0asm\1\0\0\0", 8);
	while (w->bad == NULL && w->at < w->n) {
		const uint8_t id = walk_byte(w);
		const uint32_t n = walk_number(w), place = place_of(id);

		if (n > w->n - w->at)
			walk_fail(w, "it ends too early");
		if (w->bad != NULL || id == 0) {
			walk_skip(w, n);
			continue;
		}
		if (place <= before)
			walk_fail(w, "a section is not in its place, or there twice");
		if (!has_globals && place > place_of(SECTION_GLOBAL))
			add_global_section(to);
		has_globals |= place >= place_of(SECTION_GLOBAL);
		before = place;
		if (w->bad == NULL)
			take_section(w, id, n, to);
	}
}

static void end_walk(module_walk *w)
{
	free(w->types);
	free(w->functions);
}

pctl_status pctl_contract_meter(const uint8_t *module, size_t n, const pctl_call *call,
				uint8_t **out, size_t *n_out)
{
	module_walk w = {.bytes = module, .n = n};
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;

	*out = NULL;
	*n_out = 0;
	walk_sections(&w, &text);
	if (w.bad == NULL && !w.has_memory)
		walk_fail(&w, "it exports no memory of the name \"memory\"");
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
	module_walk w = {.bytes = module,
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
