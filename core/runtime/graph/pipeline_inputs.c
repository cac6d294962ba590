/* Inputs as the file has them, sets of tensors, of which a reference makes an input, and states, which are an input and an output. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "runtime/graph/pipeline_private.h"
#include "runtime/policy/private.h"

/* One name that is taken stays the first's: two inputs of one name are refused by the checks. */
static void add_input(pctl_pipe_reader *r, const pctl_pipe_input *in)
{
	if (!PCTL_VEC_PUSH(&r->inputs, *in) ||
	    (!pctl_map_has(r->named, in->name) &&
	     !pctl_map_put(r->named, in->name, (void *)(uintptr_t)r->inputs.n)))
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
}

static void refuse_source(pctl_pipe_reader *r, const pctl_pos *pos, const char *name,
			  const char *what)
{
	pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4006_INPUT_SOURCE, pos, "keep one of them",
					 "input \"%s\" has both %s", name, what));
}

/* ---- sets of tensors ------------------------------------------------------------------------ */

static void read_set(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	static const char *const others[] = {"type", "file", "cid"};
	const pctl_conf_value *file = pctl_conf_get(v, "tensors"),
			      *types = pctl_conf_get(v, "types");
	pctl_pipe_set *set = &r->p->sets[r->p->n_sets++];

	set->name = pctl_pipe_dup(r, v->key);
	set->pos = pctl_pipe_place(r, v->key_pos);
	set->file = pctl_pipe_text(r, file);
	set->file_pos = pctl_pipe_place(r, file->pos);
	set->types = pctl_pipe_table(r, pctl_pipe_count(types), sizeof(*set->types));
	for (uint32_t i = 0; set->types != NULL && i < pctl_pipe_count(types); i++) {
		set->types[i].glob =
			pctl_pipe_dup(r, pctl_conf_get(types->items[i], "tensor")->text);
		pctl_pipe_read_type(r, pctl_conf_get(types->items[i], "type"), &set->types[i].type);
		set->n_types++;
	}
	for (uint32_t i = 0; i < 3; i++) {
		if (pctl_conf_get(v, others[i]) != NULL)
			refuse_source(
				r, &pctl_conf_get(v, others[i])->key_pos, set->name,
				pctl_arena_printf(r->p->arena, "`tensors` and `%s`", others[i]));
	}
}

static void read_input(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *file = pctl_conf_get(v, "file"), *cid = pctl_conf_get(v, "cid"),
			      *type = pctl_conf_get(v, "type"), *types = pctl_conf_get(v, "types");
	pctl_pipe_input in = {.name = pctl_pipe_dup(r, v->key),
			      .pos = pctl_pipe_place(r, v->key_pos),
			      .file = pctl_pipe_text(r, file),
			      .cid = pctl_pipe_text(r, cid)};

	if (type == NULL)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC1021_CONF_MISSING_KEY, &v->pos,
						 "type of the data, u32[m,2], or `tensors`",
						 "input \"%s\" needs the key `type`", in.name));
	else
		pctl_pipe_read_type(r, type, &in.type);
	if (file != NULL || cid != NULL)
		in.source_pos = pctl_pipe_place(r, file != NULL ? file->pos : cid->pos);
	if (file != NULL && cid != NULL)
		refuse_source(r, &cid->pos, in.name, "a file and a cid");
	if (types != NULL)
		pctl_pipe_keep(r,
			       pctl_refuse_at(r->call, PC4006_INPUT_SOURCE, &types->key_pos,
					      "`types` goes with `tensors`",
					      "input \"%s\" is one tensor, of one type", in.name));
	add_input(r, &in);
}

void pctl_pipe_read_inputs(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	r->p->sets = pctl_pipe_table(r, pctl_pipe_count(v), sizeof(*r->p->sets));
	for (uint32_t i = 0; r->p->sets != NULL && i < pctl_pipe_count(v); i++) {
		if (pctl_conf_get(v->items[i], "tensors") != NULL)
			read_set(r, v->items[i]);
		else
			read_input(r, v->items[i]);
	}
}

/* What the set says that a tensor is, else anything. */
static void type_of(const pctl_pipe_set *set, const char *tensor, pctl_type_pattern *out)
{
	for (uint32_t i = 0; i < set->n_types; i++) {
		if (!pctl_policy_glob(set->types[i].glob, tensor))
			continue;
		*out = set->types[i].type;
		return;
	}
	pctl_pattern_any(out);
}

void pctl_pipe_want_tensor(pctl_pipe_reader *r, const pctl_pipe_ref *ref)
{
	const char *slash = strchr(ref->name, '/');
	const size_t n = (size_t)(slash - ref->name);

	for (uint32_t i = 0; i < r->p->n_sets; i++) {
		pctl_pipe_set *set = &r->p->sets[i];
		pctl_pipe_input in = {.name = ref->name,
				      .pos = ref->pos,
				      .file = set->file,
				      .set = set->name,
				      .tensor = slash + 1,
				      .source_pos = set->file_pos};

		if (strlen(set->name) != n || memcmp(set->name, ref->name, n) != 0)
			continue;
		set->n_used++;
		if (pctl_map_has(r->named, ref->name))
			return;
		type_of(set, in.tensor, &in.type);
		add_input(r, &in);
		return;
	}
	/* A part of a state, or nothing, which the checks say. */
}

/* ---- states --------------------------------------------------------------------------------- */

static void add_state(pctl_pipe_reader *r, const pctl_conf_value *v, const char *name)
{
	const pctl_conf_value *next = pctl_conf_get(v, "next");
	const pctl_pipe_state state = {.name = name,
				       .pos = pctl_pipe_place(r, v->key_pos),
				       .input = r->inputs.n,
				       .output = r->outputs.n};
	const pctl_pipe_feed out = {
		.port = name, .pos = state.pos, .from = pctl_pipe_read_ref(r, next)};
	pctl_pipe_input in = {.name = name, .pos = state.pos, .is_state = 1};

	pctl_pipe_read_type(r, pctl_conf_get(v, "type"), &in.type);
	if (in.type.any_shape)
		pctl_pipe_keep(r,
			       pctl_refuse_at(r->call, PC4024_STATE, &pctl_conf_get(v, "type")->pos,
					      "write its extents: numbers, parameters, or "
					      "dimensions of inputs",
					      "state \"%s\" needs a shape", name));
	add_input(r, &in);
	if (!PCTL_VEC_PUSH(&r->outputs, out) || !PCTL_VEC_PUSH(&r->states, state))
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
}

static void read_state(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *count = pctl_conf_get(v, "count");
	pctl_pipe_turn part = {.prefix = "", .index = pctl_conf_string_or(v, "index", NULL)};
	char what[160];
	uint64_t parts;

	if (count == NULL) {
		if (part.index != NULL)
			pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4024_STATE,
							 &pctl_conf_get(v, "index")->key_pos,
							 "add count = N;",
							 "state \"%s\" has an index of parts, and "
							 "no `count` of them",
							 v->key));
		add_state(r, v, pctl_pipe_dup(r, v->key));
		return;
	}
	(void)snprintf(what, sizeof(what), "state \"%s\"", v->key);
	if (!pctl_pipe_count_of(r, count, what, &parts))
		return;
	if (parts > PCTL_PIPELINE_JOBS_MAX) {
		pctl_pipe_keep(r,
			       pctl_refuse_at(r->call, PC4024_STATE, &count->pos, NULL,
					      "state \"%s\" has %" PRIu64 " parts, %u are the most",
					      v->key, parts, PCTL_PIPELINE_JOBS_MAX));
		return;
	}
	for (part.number = 0; part.number < parts; part.number++) {
		char *name = pctl_arena_printf(r->p->arena, "%s/%" PRIu64, v->key, part.number);

		if (name == NULL) {
			pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
			return;
		}
		pctl_pipe_enter(r, &part);
		pctl_pipe_once_of(r->once, name);
		add_state(r, v, name);
		pctl_pipe_enter(r, NULL);
	}
}

void pctl_pipe_read_states(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	for (uint32_t i = 0; i < pctl_pipe_count(v); i++)
		read_state(r, v->items[i]);
}
