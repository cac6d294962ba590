/* Several dispatches as one; see join.h. Each part's entry point becomes a function of the number of its workgroup, and a new one calls them. Functions and
 * variables of a workgroup or an invocation that two parts have alike are one. */
#include "compiler/legalize/join.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/legalize/join_parts.h"
#include "compiler/legalize/pure.h"

/* ---- which ---------------------------------------------------------------------------------- */

uint32_t pctl_legal_join_groups(const pctl_join_part *parts, uint32_t n, uint32_t how)
{
	uint64_t sum = 0;
	int is_one = 1;

	for (uint32_t i = 0; i < n; i++) {
		sum += parts[i].groups;
		is_one &= parts[i].groups == parts[0].groups;
	}
	if (how == PCTL_JOIN_BEHIND)
		return is_one ? parts[0].groups : 1;
	if (how == PCTL_JOIN_AHEAD)
		return sum - parts[n - 1].groups == n - 1u ? parts[n - 1].groups : 0;
	return sum > UINT32_MAX ? 0 : (uint32_t)sum;
}

static int has_workgroup_memory(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (p->vars[i].space == PCTL_SPACE_WORKGROUP)
			return 1;
	return 0;
}

static int is_position(const pctl_program *p, const pctl_inst *in)
{
	const uint32_t which = in->op == PCTL_OP_BUILTIN ? pctl_arg(p, in, 0) : 0;

	return which == PCTL_BUILTIN_GLOBAL_ID || which == PCTL_BUILTIN_WORKGROUP_ID ||
	       which == PCTL_BUILTIN_NUM_WORKGROUPS;
}

/* Positions are known where the number of the workgroup is. */
static int asks_elsewhere(const pctl_program *p)
{
	for (uint32_t f = 1; f < p->n_functions; f++)
		for (uint32_t i = 0; f != p->entries[0].function && i < p->functions[f].n_insts;
		     i++)
			if (is_position(p, &p->insts[p->functions[f].first_inst + i]))
				return 1;
	return 0;
}

static pctl_status look(joiner *j)
{
	for (uint32_t i = 0; i < j->n; i++) {
		const pctl_program *p = j->parts[i].program;
		const uint32_t *size = p->entries[0].workgroup_size;

		if (p->n_entries != 1 || size[1] != 1 || size[2] != 1 ||
		    p->caps & PCTL_CAP_OVERRIDES || pctl_program_turn_flag(p) != UINT32_MAX ||
		    asks_elsewhere(p))
			return PCTL_E_UNSUPPORTED;
		j->size = size[0] > j->size ? size[0] : j->size;
	}
	for (uint32_t i = 0; i < j->n; i++) {
		const pctl_program *p = j->parts[i].program;
		legal_purity purity;

		if (!legal_purity_open(&purity, p))
			return PCTL_E_NOMEM;
		j->waits[i] = purity.waits[p->entries[0].function];
		legal_purity_close(&purity);
		if ((j->waits[i] || has_workgroup_memory(p)) &&
		    (join_size(p) != j->size || join_is_turned(j, i)))
			return PCTL_E_UNSUPPORTED;
	}
	return PCTL_OK;
}

/* ---- functions ------------------------------------------------------------------------------ */

static int say(joined_function *w, uint32_t word, uint32_t *cap)
{
	if (!pctl_vec_reserve((void **)&w->words, w->n, cap, sizeof(uint32_t)))
		return 0;
	w->words[w->n++] = word;
	return 1;
}

/* Its instructions by what they will name. */
static int write_down(joiner *j, uint32_t part, uint32_t f, joined_function *out)
{
	legal *l = &j->l[part];
	const pctl_program *p = l->p;
	const pctl_function *fn = &p->functions[f];
	uint32_t cap = 0;
	int ok;

	*out = (joined_function){NULL, 0, 0};
	ok = say(out, legal_type(l, fn->return_type), &cap) && say(out, fn->n_params, &cap) &&
	     say(out, fn->n_locals, &cap);
	for (uint32_t i = 0; ok && i < fn->n_locals; i++)
		ok = say(out, legal_type(l, p->locals[fn->first_local + i].type), &cap);
	for (uint32_t i = 0; ok && i < fn->n_insts; i++) {
		const pctl_inst *in = &p->insts[fn->first_inst + i];
		pctl_place place;
		const int is_memory = pctl_place_get(p, fn, in, &place);

		ok = say(out, in->op | (uint32_t)in->flags << 16, &cap) &&
		     say(out, legal_type(l, in->type), &cap) && say(out, in->n_args, &cap);
		for (uint32_t a = 0; ok && a < in->n_args; a++) {
			uint32_t word = pctl_arg(p, in, a);

			if (is_memory && a == place.n_values && !(word & PCTL_PLACE_LOCAL)) {
				ok = say(out, j->recast[part][word], &cap) &&
				     say(out, j->counts[part][word], &cap);
				word = j->variables[part][word];
			}
			if (in->op == PCTL_OP_CALL && a == 0)
				word = l->functions[word];
			ok = ok && say(out, word, &cap);
		}
	}
	return ok;
}

static pctl_status add_function(joiner *j, uint32_t part, uint32_t f)
{
	legal *l = &j->l[part];
	joined_function w;

	if (!write_down(j, part, f, &w)) {
		free(w.words);
		return PCTL_E_NOMEM;
	}
	for (uint32_t i = 0; i < j->functions.n; i++) {
		const joined_function *o = &j->functions.items[i];

		if (o->n == w.n && memcmp(o->words, w.words, w.n * sizeof(uint32_t)) == 0) {
			l->functions[f] = o->function;
			free(w.words);
			return PCTL_OK;
		}
	}
	w.function = legal_function(l, f);
	if (!PCTL_VEC_PUSH(&j->functions, w)) {
		free(w.words);
		return PCTL_E_NOMEM;
	}
	return l->status;
}

/* An element of an array of other words: its bits; the length of what is no runtime array any more. */
static void instruction(legal *l, uint32_t v, const pctl_inst *in)
{
	const uint16_t op = in->op;
	const uint32_t element = op == PCTL_OP_STORE
					 ? pctl_value_type(l->p, l->fn, pctl_arg(l->p, in, 0))
					 : in->type;
	uint32_t words[3], id, scalar;
	pctl_place place;

	if (op == PCTL_OP_ARRAY_LENGTH && pctl_place_get(l->p, l->fn, in, &place) &&
	    l->counts[place.root] != 0) {
		legal_set_packed(l, v, pctl_build_const(l->b, l->t_u32, l->counts[place.root]));
		return;
	}
	if (!pctl_place_get(l->p, l->fn, in, &place) || place.root & PCTL_PLACE_LOCAL ||
	    l->recast[place.root] == 0 || (op != PCTL_OP_LOAD && op != PCTL_OP_STORE)) {
		legal_int64_rules.instruction(l, v, in);
		return;
	}
	scalar = pctl_build_scalar(l->b, l->recast[place.root]);
	if (op == PCTL_OP_STORE)
		words[0] = legal_emit1(l, PCTL_OP_BITCAST, scalar,
				       legal_packed(l, pctl_arg(l->p, in, 0)));
	words[place.n_values] = l->variables[place.root];
	words[place.n_values + 1u] = legal_packed(l, l->p->words[place.chain]);
	id = legal_emit(l, op, op == PCTL_OP_STORE ? 0 : scalar, words, place.n_values + 2u);
	legal_keep_flags(l, id, in->flags);
	if (op == PCTL_OP_LOAD)
		legal_set_packed(l, v, legal_emit1(l, PCTL_OP_BITCAST, legal_type(l, element), id));
}

/* What the part has as its position, in workgroup `number`, a value. */
static uint32_t position(joiner *j, uint32_t part, uint32_t which, uint32_t number)
{
	const uint32_t zero = pctl_build_const(j->b, j->t_u32, 0);
	uint32_t words[3] = {number, zero, zero};

	if (which == PCTL_BUILTIN_NUM_WORKGROUPS) {
		words[1] = pctl_build_const(j->b, j->t_u32, 1);
		words[0] = pctl_build_const(j->b, j->t_u32, j->parts[part].groups);
		words[2] = words[1];
	} else if (which == PCTL_BUILTIN_GLOBAL_ID) {
		const uint32_t local = PCTL_BUILTIN_LOCAL_ID;
		const uint32_t id = pctl_build_inst(j->b, PCTL_OP_BUILTIN, j->t_u3, &local, 1);
		const uint32_t lane = pctl_build_inst(j->b, PCTL_OP_EXTRACT, j->t_u32,
						      (const uint32_t[]){id, 0}, 2);
		const uint32_t size =
			pctl_build_const(j->b, j->t_u32, join_size(j->parts[part].program));
		const uint32_t first = pctl_build_op(j->b, PCTL_OP_MUL, j->t_u32, number, size);

		words[0] = pctl_build_op(j->b, PCTL_OP_ADD, j->t_u32, first, lane);
	}
	return pctl_build_inst(j->b, PCTL_OP_COMPOSE, j->t_u3, words, 3);
}

/* The entry point of a part as a function of the number of its workgroup, which is value 0. */
static pctl_status add_entry(joiner *j, uint32_t part)
{
	legal *l = &j->l[part];
	const uint32_t f = l->p->entries[0].function;
	const pctl_function *fn = &l->p->functions[f];

	l->fn = fn;
	l->function = f;
	pctl_build_function_begin(j->b, pctl_str(l->p, l->p->entries[0].name), &j->t_u32, 1, 0);
	for (uint32_t i = 0; i < fn->n_locals; i++)
		(void)pctl_build_local(j->b, pctl_str(l->p, l->p->locals[fn->first_local + i].name),
				       l->rules->local(l, i));
	for (uint32_t i = 0; i < fn->n_insts && l->status == PCTL_OK; i++) {
		const pctl_inst *in = &l->p->insts[fn->first_inst + i];

		if (is_position(l->p, in))
			legal_set_packed(l, i, position(j, part, pctl_arg(l->p, in, 0), 0));
		else
			l->rules->instruction(l, i, in);
	}
	j->entry[part] = pctl_build_function_end(j->b);
	l->new_function = j->entry[part] + 1;
	return l->status;
}

static pctl_status add_part(joiner *j, uint32_t part)
{
	legal *l = &j->l[part];
	const pctl_program *p = j->parts[part].program;
	pctl_status status = PCTL_OK;

	if (part != 0)
		l->new_function = j->l[part - 1].new_function;
	for (uint32_t f = 1; f < p->n_functions && status == PCTL_OK; f++)
		if (f != p->entries[0].function)
			status = add_function(j, part, f);
	return status == PCTL_OK ? add_entry(j, part) : status;
}

/* ---- the program ---------------------------------------------------------------------------- */

static pctl_status open_part(joiner *j, uint32_t part, const pctl_call *call)
{
	const pctl_program *p = j->parts[part].program;
	legal *l = &j->l[part];

	l->b = j->b;
	l->call = call;
	l->new_function = 1; /* behind `spec` */
	l->t_u32 = j->t_u32;
	l->t_i32 = pctl_build_scalar(j->b, PCTL_SCALAR_I32);
	l->t_bool = j->t_bool;
	l->t_u2 = pctl_build_vector(j->b, PCTL_SCALAR_U32, 2);
	l->t_b2 = pctl_build_vector(j->b, PCTL_SCALAR_BOOL, 2);
	j->variables[part] = calloc(p->n_vars + 1u, sizeof(uint32_t));
	j->recast[part] = calloc(p->n_vars + 1u, 1);
	j->counts[part] = calloc(p->n_vars + 1u, sizeof(uint32_t));
	if (j->variables[part] == NULL || j->recast[part] == NULL || j->counts[part] == NULL ||
	    !legal_source_open(l, p, &j->rules, 0))
		return PCTL_E_NOMEM;
	l->variables = j->variables[part];
	l->recast = j->recast[part];
	l->counts = j->counts[part];
	for (uint32_t v = 0; v < p->n_vars; v++)
		if (p->vars[v].space >= PCTL_SPACE_UNIFORM && join_own_bytes(j, part, v) != 0 &&
		    p->types[p->vars[v].type].stride != 0)
			j->counts[part][v] = (uint32_t)(join_own_bytes(j, part, v) /
							p->types[p->vars[v].type].stride);
	return PCTL_OK;
}

static pctl_status build(joiner *j, const pctl_call *call, pctl_program **out)
{
	pctl_status status = look(j);

	if (status != PCTL_OK)
		return status;
	j->b = pctl_builder_create();
	if (j->b == NULL)
		return PCTL_E_NOMEM;
	pctl_build_spec_begin(j->b);
	(void)pctl_build_function_end(j->b);
	j->t_u32 = pctl_build_scalar(j->b, PCTL_SCALAR_U32);
	j->t_u3 = pctl_build_vector(j->b, PCTL_SCALAR_U32, 3);
	j->t_bool = pctl_build_scalar(j->b, PCTL_SCALAR_BOOL);
	for (uint32_t i = 0; status == PCTL_OK && i < j->n; i++)
		status = open_part(j, i, call);
	for (uint32_t i = 0; status == PCTL_OK && i < j->n; i++)
		status = join_variables(j, i);
	for (uint32_t i = 0; status == PCTL_OK && i < j->n; i++)
		join_maxima(j, i);
	for (uint32_t i = 0; status == PCTL_OK && i < j->n; i++)
		status = add_part(j, i);
	if (status != PCTL_OK)
		return status;
	join_main(j);
	status = pctl_builder_finish(j->b, call, out);
	for (uint32_t i = 0; status == PCTL_OK && i < j->n; i++)
		for (uint32_t k = 0; k < j->l[i].n_flags; k++) {
			const legal_flag *flag = &j->l[i].flags[k];

			(*out)->insts[(*out)->functions[flag->function].first_inst + flag->value]
				.flags = flag->flags;
		}
	return status;
}

pctl_status pctl_legal_join(const pctl_join_part *parts, uint32_t n, uint32_t how,
			    const pctl_call *call, pctl_program **out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	joiner *j = calloc(1, sizeof(*j));
	pctl_status status;

	*out = NULL;
	if (j == NULL)
		return pctl_refuse(call, PC2_NOMEM, "joining programs");
	j->parts = parts;
	j->n = n;
	j->how = how;
	j->rules = legal_int64_rules;
	j->rules.instruction = instruction;
	j->groups = n == 0 || n > PCTL_JOIN_PARTS ? 0 : pctl_legal_join_groups(parts, n, how);
	status = j->groups == 0 ? PCTL_E_UNSUPPORTED : build(j, &quiet, out);
	for (uint32_t i = 0; i < PCTL_JOIN_PARTS; i++) {
		legal_source_close(&j->l[i]);
		free(j->l[i].flags);
		free(j->variables[i]);
		free(j->recast[i]);
		free(j->counts[i]);
	}
	for (uint32_t i = 0; i < j->functions.n; i++)
		free(j->functions.items[i].words);
	free(j->functions.items);
	free(j->vars.items);
	pctl_builder_destroy(j->b);
	free(j);
	if (status == PCTL_E_NOMEM)
		return pctl_refuse(call, PC2_NOMEM, "joining programs");
	/* Larger, or deeper, than a program may be. */
	return status == PCTL_OK ? PCTL_OK : PCTL_E_UNSUPPORTED;
}
