/* Readable text of a program: tables first, then one instruction a line, indented by region. For
 * people and goldens; nothing reads it back. Works on any program that verifies. */
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "compiler/ir/tables.h"

static const char *tile_role(uint32_t role)
{
	return role == PCTL_TILE_LEFT ? "left" : role == PCTL_TILE_RIGHT ? "right" : "result";
}

/* is_whole: structs with their members, else by their number. */
static void type_text(pctl_str_buf *s, const pctl_program *p, uint32_t type, int is_whole)
{
	const pctl_type *t = &p->types[type];
	uint32_t i;

	switch (t->kind) {
	case PCTL_TYPE_VOID:
		pctl_str_add(s, "void");
		break;
	case PCTL_TYPE_SCALAR:
		pctl_str_add(s, pctl_scalar_name(t->scalar));
		break;
	case PCTL_TYPE_VECTOR:
		pctl_str_addf(s, "vec%u<%s>", t->width, pctl_scalar_name(t->scalar));
		break;
	case PCTL_TYPE_MATRIX:
		pctl_str_addf(s, "mat%ux%u<%s>", t->columns, t->width, pctl_scalar_name(t->scalar));
		break;
	case PCTL_TYPE_ATOMIC:
		pctl_str_addf(s, "atomic<%s>", pctl_scalar_name(t->scalar));
		break;
	case PCTL_TYPE_TILE:
		pctl_str_addf(s, "%s<%s, %u, %u>", tile_role(t->count), pctl_scalar_name(t->scalar),
			      t->columns, t->width);
		break;
	case PCTL_TYPE_STRUCT:
		if (!is_whole) {
			pctl_str_addf(s, "struct#%u", type);
			break;
		}
		for (i = 0; i < t->count; i++) {
			const pctl_member *m = &p->members[t->first_member + i];

			pctl_str_addf(s, "%s%s: ", i == 0 ? "{ " : ", ", pctl_str(p, m->name));
			type_text(s, p, m->type, 1);
		}
		pctl_str_add(s, " }");
		break;
	default:
		/* Types nest at most PCTL_TYPE_DEPTH_MAX deep: verify has seen to it. */
		pctl_str_add(s, "array<");
		type_text(s, p, t->elem, is_whole);
		if (t->count_spec)
			pctl_str_addf(s, ", spec %%%u", t->count_spec - 1);
		else if (t->kind == PCTL_TYPE_ARRAY)
			pctl_str_addf(s, ", %u", t->count);
		pctl_str_add(s, ">");
		break;
	}
}

static void type_name(pctl_str_buf *s, const pctl_program *p, uint32_t type)
{
	type_text(s, p, type, 0);
}

char *pctl_program_print_type(const pctl_program *p, uint32_t type)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	type_text(&s, p, type, 1);
	return pctl_str_finish(&s);
}

static void structs(pctl_str_buf *s, const pctl_program *p)
{
	uint32_t i, j;

	for (i = 1; i < p->n_types; i++) {
		const pctl_type *t = &p->types[i];

		if (t->kind != PCTL_TYPE_STRUCT)
			continue;
		pctl_str_addf(s, "struct#%u size %u align %u\n", i, t->size, t->align);
		for (j = 0; j < t->count; j++) {
			const pctl_member *m = &p->members[t->first_member + j];

			pctl_str_addf(s, "\t%s @%u: ", pctl_str(p, m->name), m->offset);
			type_name(s, p, m->type);
			pctl_str_add(s, "\n");
		}
	}
}

static const char *space_name(uint8_t space)
{
	static const char *const names[] = {"?",	 "function", "private",
					    "workgroup", "uniform",  "storage"};

	return names[space <= PCTL_SPACE_STORAGE ? space : 0];
}

static void vars(pctl_str_buf *s, const pctl_program *p)
{
	uint32_t i;

	for (i = 0; i < p->n_vars; i++) {
		const pctl_var *v = &p->vars[i];

		pctl_str_addf(s, "var#%u %s", i, space_name(v->space));
		if (v->space == PCTL_SPACE_STORAGE)
			pctl_str_add(s, v->access == PCTL_ACCESS_READ ? " read" : " read_write");
		if (v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM)
			pctl_str_addf(s, " group %u binding %u", v->group, v->binding);
		pctl_str_addf(s, " %s: ", pctl_str(p, v->name));
		type_name(s, p, v->type);
		pctl_str_add(s, "\n");
	}
	for (i = 0; i < p->n_overrides; i++) {
		const pctl_override *o = &p->overrides[i];

		pctl_str_addf(s, "override#%u %s: ", i, pctl_str(p, o->name));
		type_name(s, p, o->type);
		if (o->id != PCTL_NONE)
			pctl_str_addf(s, " id %u", o->id);
		if (o->has_default)
			pctl_str_addf(s, " = spec %%%u", o->default_value);
		pctl_str_add(s, "\n");
	}
}

static void entries(pctl_str_buf *s, const pctl_program *p)
{
	uint32_t i, d;

	for (i = 0; i < p->n_entries; i++) {
		const pctl_entry *e = &p->entries[i];

		pctl_str_addf(s, "entry %s = function#%u workgroup", pctl_str(p, e->name),
			      e->function);
		for (d = 0; d < 3; d++) {
			if (e->workgroup_size_spec[d])
				pctl_str_addf(s, " spec %%%u", e->workgroup_size_spec[d] - 1);
			else
				pctl_str_addf(s, " %u", e->workgroup_size[d]);
		}
		pctl_str_add(s, "\n");
	}
	for (i = 0; i < p->n_maxima; i++) {
		const pctl_max *m = &p->maxima[i];

		pctl_str_addf(s, "max var#%u", m->var);
		for (d = 0; d < m->n_path; d++)
			pctl_str_addf(s, ".%u", m->path[d]);
		pctl_str_addf(s, " = %llu\n", (unsigned long long)m->value);
	}
	if (p->max_dispatch[0] || p->max_dispatch[1] || p->max_dispatch[2])
		pctl_str_addf(s, "max dispatch %u %u %u\n", p->max_dispatch[0], p->max_dispatch[1],
			      p->max_dispatch[2]);
	if (p->scale)
		pctl_str_addf(s, "scale %llu\n", (unsigned long long)p->scale);
}

/* ---- code ---- */

static void place(pctl_str_buf *s, const pctl_program *p, const pctl_function *fn,
		  const pctl_inst *in, const pctl_place *pl)
{
	uint32_t type = pl->root_type, i;

	if (pl->root & PCTL_PLACE_LOCAL)
		pctl_str_addf(
			s, "local#%u %s", pl->root & ~PCTL_PLACE_LOCAL,
			pctl_str(p,
				 p->locals[fn->first_local + (pl->root & ~PCTL_PLACE_LOCAL)].name));
	else
		pctl_str_addf(s, "var#%u %s", pl->root, pctl_str(p, p->vars[pl->root].name));
	for (i = 0; i < pl->n_chain; i++) {
		const uint32_t word = p->words[pl->chain + i];
		const pctl_type *t = &p->types[type];

		if (t->kind == PCTL_TYPE_STRUCT)
			pctl_str_addf(s, ".%s",
				      pctl_str(p, p->members[t->first_member + word].name));
		else
			pctl_str_addf(s, "[%%%u%s]", word,
				      i < 16 && (in->flags & PCTL_INST_PROVEN(i)) ? " proven" : "");
		type = pctl_type_step(p, type, word);
	}
	if (pctl_op_get(in->op)->kind == PCTL_OPKIND_tile && (in->flags & PCTL_INST_WHOLE))
		pctl_str_addf(s, " whole");
}

static void arguments(pctl_str_buf *s, const pctl_program *p, const pctl_inst *in)
{
	static const char *const builtins[] = {"?",	      "global_id",    "local_id",
					       "local_index", "workgroup_id", "num_workgroups"};
	const char *pattern = pctl_op_get(in->op)->args;
	uint32_t i;

	if (in->op == PCTL_OP_CONST) {
		pctl_str_addf(s, " 0x%llx",
			      (unsigned long long)(pctl_arg(p, in, 0) | (uint64_t)pctl_arg(p, in, 1)
										<< 32));
		return;
	}
	if (in->op == PCTL_OP_BUILTIN) {
		const uint32_t b = pctl_arg(p, in, 0);

		pctl_str_addf(s, " %s", builtins[b <= PCTL_BUILTIN_NUM_WORKGROUPS ? b : 0]);
		return;
	}
	for (i = 0; i < in->n_args; i++) {
		if (*pattern == 'v')
			pctl_str_addf(s, " %%%u", pctl_arg(p, in, i));
		else
			pctl_str_addf(s, *pattern == 'f' ? " function#%u" : " %u",
				      pctl_arg(p, in, i));
		if (pattern[1] != '*')
			pattern++;
	}
}

static void inst(pctl_str_buf *s, const pctl_program *p, const pctl_function *fn, uint32_t v)
{
	const pctl_inst *in = &p->insts[fn->first_inst + v];
	const pctl_op_info *info = pctl_op_get(in->op);
	pctl_place pl;
	uint32_t i;

	if (in->type)
		pctl_str_addf(s, "%%%u = ", v);
	pctl_str_add(s, info->name);
	if (strchr(info->args, 'g')) {
		if (pctl_place_get(p, fn, in, &pl)) {
			for (i = 0; i < pl.n_values; i++)
				pctl_str_addf(s, " %%%u", pctl_arg(p, in, i));
			pctl_str_add(s, pl.n_values ? " -> " : " ");
			place(s, p, fn, in, &pl);
		}
	} else {
		arguments(s, p, in);
	}
	if (in->type) {
		pctl_str_add(s, " : ");
		type_name(s, p, in->type);
	}
	pctl_str_add(s, "\n");
}

static int opens(uint16_t op)
{
	return op == PCTL_OP_IF || op == PCTL_OP_SWITCH || op == PCTL_OP_LOOP ||
	       op == PCTL_OP_BLOCK;
}

static int closes(uint16_t op)
{
	return op == PCTL_OP_END_IF || op == PCTL_OP_END_SWITCH || op == PCTL_OP_END_LOOP ||
	       op == PCTL_OP_END_BLOCK;
}

static int parts(uint16_t op)
{
	return op == PCTL_OP_ELSE || op == PCTL_OP_CASE || op == PCTL_OP_LOOP_TEST ||
	       op == PCTL_OP_CONTINUING;
}

static void function(pctl_str_buf *s, const pctl_program *p, uint32_t f)
{
	const pctl_function *fn = &p->functions[f];
	uint32_t depth = 1, i, d;

	pctl_str_addf(s, "function#%u %s -> ", f, f ? pctl_str(p, fn->name) : "spec");
	type_name(s, p, fn->return_type);
	pctl_str_add(s, "\n");
	for (i = 0; i < fn->n_locals; i++) {
		const pctl_local *l = &p->locals[fn->first_local + i];

		pctl_str_addf(s, "\tlocal#%u %s: ", i, pctl_str(p, l->name));
		type_name(s, p, l->type);
		pctl_str_add(s, "\n");
	}
	for (i = 0; i < fn->n_insts; i++) {
		const uint16_t op = p->insts[fn->first_inst + i].op;

		if (closes(op) && depth > 1)
			depth--;
		for (d = parts(op) ? 1 : 0; d < depth; d++)
			pctl_str_add(s, "\t");
		inst(s, p, fn, i);
		if (opens(op))
			depth++;
	}
}

char *pctl_program_print(const pctl_program *p)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	uint32_t i;

	pctl_str_addf(&s, "program %u.%u caps 0x%llx\n", PCTL_PROGRAM_MAJOR, PCTL_PROGRAM_MINOR,
		      (unsigned long long)p->caps);
	structs(&s, p);
	vars(&s, p);
	entries(&s, p);
	for (i = 0; i < p->n_functions; i++) {
		if (i || p->functions[i].n_insts)
			function(&s, p, i);
	}
	return pctl_str_finish(&s);
}
