/* The builder: variables, overrides, functions and entry points, and finish, which packs and
 * verifies. */
#include <stdlib.h>
#include <string.h>

#include "compiler/ir/builder.h"

void pctl_builder_break(pctl_builder *b, const char *why)
{
	if (!b->broken)
		b->broken = why;
}

pctl_builder *pctl_builder_create(void)
{
	pctl_builder *b = calloc(1, sizeof(*b));
	const pctl_type nothing = {.kind = PCTL_TYPE_VOID};
	uint32_t empty;

	if (!b)
		return NULL;
	if (!PCTL_VEC_PUSH(&b->types, nothing) || !pctl_strings_put(&b->strings, "", 0, &empty)) {
		pctl_builder_destroy(b);
		return NULL;
	}
	return b;
}

static void clear(pctl_builder *b)
{
	uint32_t i;

	for (i = 0; i < b->origin_files.n; i++)
		free(b->origin_files.items[i]);
	free(b->types.items);
	free(b->members.items);
	free(b->vars.items);
	free(b->overrides.items);
	free(b->functions.items);
	free(b->locals.items);
	free(b->insts.items);
	free(b->words.items);
	free(b->entries.items);
	free(b->maxima.items);
	free(b->origins.items);
	free(b->origin_files.items);
	pctl_strings_drop(&b->strings);
	pctl_index_drop(&b->type_index);
	memset(b, 0, sizeof(*b));
}

void pctl_builder_destroy(pctl_builder *b)
{
	if (!b)
		return;
	clear(b);
	free(b);
}

uint32_t pctl_build_string(pctl_builder *b, const char *s)
{
	uint32_t out;

	if (!pctl_strings_put(&b->strings, s ? s : "", s ? strlen(s) : 0, &out))
		b->no_memory = 1;
	return out;
}

const char *pctl_build_string_at(const pctl_builder *b, uint32_t offset)
{
	return offset < b->strings.n ? b->strings.data + offset : "";
}

uint32_t pctl_build_var(pctl_builder *b, const pctl_var *v, const char *name)
{
	pctl_var var = *v;

	var.name = pctl_build_string(b, name);
	var.reserved = 0;
	if (var.space == PCTL_SPACE_UNIFORM) {
		var.access = PCTL_ACCESS_READ;
	} else if (var.space != PCTL_SPACE_STORAGE) {
		var.access = PCTL_ACCESS_READ_WRITE;
		var.group = var.binding = 0;
	}
	if (var.space == PCTL_SPACE_FUNCTION)
		pctl_builder_break(b, "a module variable in function space");
	PCTL_BUILDER_PUSH(b, vars, var);
	return b->vars.n - 1;
}

uint32_t pctl_build_override(pctl_builder *b, const char *name, uint32_t id, uint32_t type)
{
	pctl_override o = {.id = id, .type = type};

	o.name = pctl_build_string(b, name);
	PCTL_BUILDER_PUSH(b, overrides, o);
	return b->overrides.n - 1;
}

void pctl_build_override_default(pctl_builder *b, uint32_t override_index, uint32_t spec_value)
{
	if (override_index >= b->overrides.n) {
		pctl_builder_break(b, "a default for an override that does not exist");
		return;
	}
	b->overrides.items[override_index].has_default = 1;
	b->overrides.items[override_index].default_value = spec_value;
}

static void begin(pctl_builder *b, uint32_t name, uint32_t return_type)
{
	if (b->is_open)
		pctl_builder_break(b, "a function begun inside another");
	memset(&b->open, 0, sizeof(b->open));
	b->is_open = 1;
	b->open.name = name;
	b->open.return_type = return_type;
	b->open.first_inst = b->insts.n;
	b->open.first_local = b->locals.n;
}

void pctl_build_spec_begin(pctl_builder *b)
{
	if (b->functions.n)
		pctl_builder_break(b, "function `spec` must come first");
	begin(b, 0, 0);
}

void pctl_build_function_begin(pctl_builder *b, const char *name, const uint32_t *params,
			       uint32_t n_params, uint32_t return_type)
{
	uint32_t i;

	if (!b->functions.n && !b->is_open) {
		pctl_build_spec_begin(b);
		pctl_build_function_end(b);
	}
	begin(b, pctl_build_string(b, name), return_type);
	b->open.n_params = n_params;
	for (i = 0; i < n_params; i++)
		pctl_build_inst(b, PCTL_OP_PARAM, params[i], &i, 1);
}

uint32_t pctl_build_function_end(pctl_builder *b)
{
	if (!b->is_open)
		pctl_builder_break(b, "a function ended that was not begun");
	b->is_open = 0;
	b->open.n_insts = b->insts.n - b->open.first_inst;
	b->open.n_locals = b->locals.n - b->open.first_local;
	PCTL_BUILDER_PUSH(b, functions, b->open);
	return b->functions.n - 1;
}

uint32_t pctl_build_local(pctl_builder *b, const char *name, uint32_t type)
{
	pctl_local l = {.type = type};

	if (!b->is_open)
		pctl_builder_break(b, "a local outside a function");
	l.name = pctl_build_string(b, name);
	PCTL_BUILDER_PUSH(b, locals, l);
	return b->locals.n - 1 - b->open.first_local;
}

void pctl_build_origin(pctl_builder *b, const pctl_origin *o)
{
	b->origin = *o;
	b->has_origins = 1;
}

void pctl_build_origin_file(pctl_builder *b, uint32_t file, const char *name)
{
	char *copy;

	while (b->origin_files.n <= file) {
		if (!PCTL_BUILDER_PUSH(b, origin_files, NULL))
			return;
	}
	copy = strdup(name ? name : "");
	if (!copy) {
		b->no_memory = 1;
		return;
	}
	free(b->origin_files.items[file]);
	b->origin_files.items[file] = copy;
}

uint32_t pctl_build_inst(pctl_builder *b, uint16_t op, uint32_t type, const uint32_t *args,
			 uint32_t n_args)
{
	pctl_inst in = {.op = op, .type = type, .n_args = n_args};
	uint32_t i;

	if (!b->is_open)
		pctl_builder_break(b, "an instruction outside a function");
	in.first_arg = b->words.n;
	for (i = 0; i < n_args; i++) {
		if (!PCTL_BUILDER_PUSH(b, words, args[i]))
			return 0;
	}
	if (!PCTL_BUILDER_PUSH(b, insts, in) || !PCTL_BUILDER_PUSH(b, origins, b->origin))
		return 0;
	return b->insts.n - 1 - b->open.first_inst;
}

uint32_t pctl_build_const(pctl_builder *b, uint32_t scalar_type, uint64_t bits)
{
	const uint32_t words[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};

	return pctl_build_inst(b, PCTL_OP_CONST, scalar_type, words, 2);
}

uint32_t pctl_build_op(pctl_builder *b, uint16_t op, uint32_t type, uint32_t a0, uint32_t a1)
{
	const uint32_t args[2] = {a0, a1};
	const char *pattern = pctl_op_get(op)->args;

	return pctl_build_inst(b, op, type, args, pattern[0] && pattern[1] ? 2 : 1);
}

const pctl_inst *pctl_build_inst_at(const pctl_builder *b, uint32_t value)
{
	if (!b->is_open || value >= b->insts.n - b->open.first_inst)
		return NULL;
	return &b->insts.items[b->open.first_inst + value];
}

uint32_t pctl_build_value_type(const pctl_builder *b, uint32_t value)
{
	const pctl_inst *in = pctl_build_inst_at(b, value);

	return in ? in->type : 0;
}

void pctl_build_entry(pctl_builder *b, const pctl_entry *e, const char *name)
{
	pctl_entry entry = *e;

	entry.name = pctl_build_string(b, name);
	PCTL_BUILDER_PUSH(b, entries, entry);
}

void pctl_build_max(pctl_builder *b, const pctl_max *m)
{
	PCTL_BUILDER_PUSH(b, maxima, *m);
}

void pctl_build_meta(pctl_builder *b, const uint32_t max_dispatch[3], uint64_t scale)
{
	memcpy(b->max_dispatch, max_dispatch, sizeof(b->max_dispatch));
	b->scale = scale;
}

void pctl_build_turns(pctl_builder *b, uint32_t max_turns)
{
	b->max_turns = max_turns;
}

static pctl_program view(const pctl_builder *b)
{
	pctl_program raw = {
		.types = b->types.items,
		.members = b->members.items,
		.vars = b->vars.items,
		.overrides = b->overrides.items,
		.functions = b->functions.items,
		.locals = b->locals.items,
		.insts = b->insts.items,
		.words = b->words.items,
		.entries = b->entries.items,
		.maxima = b->maxima.items,
		.strings = b->strings.data,
		.origins = b->has_origins ? b->origins.items : NULL,
		.origin_files = b->origin_files.items,
		.n_types = b->types.n,
		.n_members = b->members.n,
		.n_vars = b->vars.n,
		.n_overrides = b->overrides.n,
		.n_functions = b->functions.n,
		.n_locals = b->locals.n,
		.n_insts = b->insts.n,
		.n_words = b->words.n,
		.n_entries = b->entries.n,
		.n_maxima = b->maxima.n,
		.n_strings = b->strings.n,
		.n_origin_files = b->origin_files.n,
		.scale = b->scale,
		.max_turns = b->max_turns,
	};

	memcpy(raw.max_dispatch, b->max_dispatch, sizeof(raw.max_dispatch));
	return raw;
}

pctl_status pctl_builder_finish(pctl_builder *b, const pctl_call *call, pctl_program **out)
{
	const pctl_keep all = {NULL, NULL, 0};
	pctl_status status;
	pctl_program raw;

	*out = NULL;
	if (!b->functions.n && !b->is_open) {
		pctl_build_spec_begin(b);
		pctl_build_function_end(b);
	}
	if (b->is_open)
		pctl_builder_break(b, "a function was left open");
	if (b->no_memory) {
		status = pctl_refuse(call, PC2_NOMEM, "no memory to build a program");
	} else if (b->broken) {
		status = pctl_refuse(call, PC2030_PROGRAM_BUILD, "%s", b->broken);
	} else {
		raw = view(b);
		status = pctl_tables_pack(&raw, &all, call, out);
	}
	clear(b);
	return status;
}
