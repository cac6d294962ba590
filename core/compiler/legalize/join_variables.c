/* What programs that are joined have in memory: what is bound once for all, workgroup memory in its place, and what a workgroup or an invocation has of its own; see join.h. */
#include <string.h>

#include "compiler/legalize/join_parts.h"

static int find_bound(const joiner *j, uint32_t slot, uint32_t *number)
{
	for (uint32_t k = 0; k < j->vars.n; k++)
		if (j->vars.items[k].space >= PCTL_SPACE_UNIFORM &&
		    j->vars.items[k].used_by == slot) {
			*number = k;
			return 1;
		}
	return 0;
}

/* All that some part does with what is bound there. */
static uint8_t access_of(const joiner *j, uint32_t slot)
{
	uint8_t access = 0;

	for (uint32_t i = 0; i < j->n; i++)
		for (uint32_t v = 0; v < j->parts[i].program->n_vars; v++)
			if (j->parts[i].program->vars[v].space >= PCTL_SPACE_UNIFORM &&
			    j->parts[i].slots[v] == slot)
				access |= j->parts[i].program->vars[v].access;
	return access;
}

/* Where invocations are side by side each part has what it has as long as it is alone; behind each other, what can be made zero again is shared. */
static int may_share(const joiner *j, const pctl_type *t, uint32_t space)
{
	if (j->how == PCTL_JOIN_BESIDE)
		return 1;
	return space == PCTL_SPACE_WORKGROUP && t->kind == PCTL_TYPE_ARRAY &&
	       (pctl_build_type_at(j->b, t->elem)->kind == PCTL_TYPE_SCALAR ||
		pctl_build_type_at(j->b, t->elem)->kind == PCTL_TYPE_VECTOR);
}

/* The scalar of 32 bits of which it is an array, or 0. */
static uint8_t word_of(const joiner *j, uint32_t type)
{
	const pctl_type *t = pctl_build_type_at(j->b, type);
	const pctl_type *e = t->kind == PCTL_TYPE_RUNTIME_ARRAY || t->kind == PCTL_TYPE_ARRAY
				     ? pctl_build_type_at(j->b, t->elem)
				     : t;

	return e != t && e->kind == PCTL_TYPE_SCALAR &&
			       (e->scalar == PCTL_SCALAR_U32 || e->scalar == PCTL_SCALAR_I32 ||
				e->scalar == PCTL_SCALAR_F32)
		       ? e->scalar
		       : 0;
}

/* Words that one part has as numbers of another kind than the other are its bits. */
static pctl_status agree(joiner *j, uint32_t part, uint32_t v, const joined_var *is,
			 const joined_var *mine)
{
	if (is->space != mine->space)
		return PCTL_E_UNSUPPORTED;
	if (is->type == mine->type)
		return PCTL_OK;
	j->recast[part][v] = word_of(j, mine->type) != 0 ? word_of(j, is->type) : 0;
	return j->recast[part][v] != 0 ? PCTL_OK : PCTL_E_UNSUPPORTED;
}

uint64_t join_own_bytes(const joiner *j, uint32_t part, uint32_t v)
{
	return j->parts[part].own != NULL ? j->parts[part].own[v] : 0;
}

/* An array of a known length in the place of one that is bound. */
static pctl_status stand_in(joiner *j, uint64_t n_bytes, joined_var *x, pctl_var *made)
{
	const pctl_type *t = pctl_build_type_at(j->b, x->type);
	const uint8_t kind = t->kind == PCTL_TYPE_RUNTIME_ARRAY
				     ? pctl_build_type_at(j->b, t->elem)->kind
				     : PCTL_TYPE_VOID;

	if ((kind != PCTL_TYPE_SCALAR && kind != PCTL_TYPE_VECTOR) || n_bytes / t->stride == 0 ||
	    n_bytes > 65536)
		return PCTL_E_UNSUPPORTED;
	x->type = pctl_build_array(j->b, t->elem, (uint32_t)(n_bytes / t->stride), 0);
	x->space = SPACE_OWN;
	made->space = PCTL_SPACE_WORKGROUP;
	made->access = PCTL_ACCESS_READ_WRITE;
	made->group = made->binding = 0;
	return PCTL_OK;
}

static pctl_status add_variable(joiner *j, uint32_t part, uint32_t v)
{
	legal *l = &j->l[part];
	const pctl_var *old = &j->parts[part].program->vars[v];
	const int is_bound = old->space >= PCTL_SPACE_UNIFORM;
	joined_var x = {.type = legal_type(l, old->type), .space = old->space, .used_by = part + 1};
	pctl_var made = *old;
	uint32_t k;

	if (is_bound) {
		x.used_by = j->parts[part].slots[v];
		made.group = 0;
		made.binding = x.used_by;
		made.access = access_of(j, x.used_by);
		if (join_own_bytes(j, part, v) != 0 &&
		    stand_in(j, join_own_bytes(j, part, v), &x, &made) != PCTL_OK)
			return PCTL_E_UNSUPPORTED;
		if (find_bound(j, x.used_by, &k)) {
			j->variables[part][v] = j->vars.items[k].number;
			return agree(j, part, v, &j->vars.items[k], &x);
		}
	}
	for (k = 0; !is_bound && k < j->vars.n; k++)
		if (j->vars.items[k].type == x.type && j->vars.items[k].space == x.space &&
		    j->vars.items[k].used_by < part + 1 &&
		    may_share(j, pctl_build_type_at(j->b, x.type), x.space))
			break;
	if (!is_bound && k < j->vars.n) {
		j->vars.items[k].used_by = part + 1;
		j->variables[part][v] = j->vars.items[k].number;
		return PCTL_OK;
	}
	made.type = x.type;
	x.number = j->variables[part][v] =
		pctl_build_var(j->b, &made, pctl_str(j->parts[part].program, old->name));
	return PCTL_VEC_PUSH(&j->vars, x) ? PCTL_OK : PCTL_E_NOMEM;
}

pctl_status join_variables(joiner *j, uint32_t part)
{
	pctl_status status = PCTL_OK;

	for (uint32_t v = 0; status == PCTL_OK && v < j->parts[part].program->n_vars; v++)
		status = add_variable(j, part, v);
	return status;
}

void join_maxima(joiner *j, uint32_t part)
{
	const pctl_program *p = j->parts[part].program;

	for (uint32_t i = 0; i < p->n_maxima; i++) {
		pctl_max m = p->maxima[i];
		int is_there = 0;

		m.var = j->variables[part][m.var];
		for (uint32_t k = 0; k < part; k++)
			for (uint32_t e = 0; e < j->parts[k].program->n_maxima; e++) {
				const pctl_max *other = &j->parts[k].program->maxima[e];

				is_there |= j->variables[k][other->var] == m.var &&
					    other->n_path == m.n_path &&
					    memcmp(other->path, m.path, sizeof(m.path)) == 0;
			}
		if (!is_there)
			pctl_build_max(j->b, &m);
	}
}
