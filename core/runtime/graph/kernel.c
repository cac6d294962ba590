/* Kernel units: the road from WGSL text to an analysed program, taken once for each source. */
#include "runtime/graph/kernel_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "compiler/analysis/extents.h"
#include "compiler/legalize/turns.h"

/* `//# use`: the text of a function op for one dtype. */
static int find_function(void *ctx, const char *op, uint32_t version, uint32_t dtype,
			 const char **text)
{
	const pctl_kernels *k = ctx;
	pctl_op_ref ref;

	*text = NULL;
	if (k->ops == NULL ||
	    pctl_op_find(k->ops, op, version, version, NULL, NULL, &ref) != PCTL_OK)
		return 0;
	if (ref.desc->kind != PCTL_OPDEF_FUNCTION)
		return 0;
	*text = ref.lib->function(ref.inst, ref.index, dtype);
	return *text != NULL;
}

static uint32_t function_names(void *ctx, uint32_t capacity, const char **out)
{
	const pctl_kernels *k = ctx;
	uint32_t n = 0, n_ops = k->ops == NULL ? 0 : k->ops->count(k->ops->ctx);

	for (uint32_t i = 0; i < n_ops; i++) {
		pctl_op_ref ref;

		k->ops->at(k->ops->ctx, i, &ref);
		if (ref.desc->kind != PCTL_OPDEF_FUNCTION)
			continue;
		if (n < capacity)
			out[n] = ref.desc->name;
		n++;
	}
	return n;
}

pctl_kernels *pctl_kernels_create(const pctl_op_source *ops)
{
	pctl_kernels *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->ops = ops;
	k->turns = PCTL_TURNS_DEFAULT;
	k->arena = pctl_arena_create();
	k->compiled = pctl_map_create();
	k->units = pctl_map_create();
	k->library = (pctl_wgsl_library){k, find_function, function_names};
	if (k->arena == NULL || k->compiled == NULL || k->units == NULL) {
		pctl_kernels_destroy(k);
		return NULL;
	}
	return k;
}

void pctl_kernels_obey(pctl_kernels *k, const pctl_policy *policy)
{
	k->policy = policy;
	if (policy != NULL)
		k->turns = policy->max_turns;
}

void pctl_kernels_ask_turns(pctl_kernels *k, uint32_t turns)
{
	k->asked_turns = turns;
}

void pctl_kernels_ask_subgroup(pctl_kernels *k, uint32_t size)
{
	k->asked_subgroup = size;
}

/* The consensus rules know nothing that is not in the text. */
static uint32_t subgroup_of(const pctl_kernels *k, const pctl_kernel_source *s)
{
	if (s->flags & PCTL_WGSL_CONSENSUS)
		return 0;
	return s->subgroup != 0 ? s->subgroup : k->asked_subgroup;
}

void pctl_kernel_unit_destroy(pctl_kernel_module *u)
{
	pctl_arena *arena = u->arena;

	pctl_analysis_destroy(u->analysis);
	pctl_program_destroy(u->program);
	free(u->wire);
	pctl_arena_destroy(arena); /* with the unit itself */
}

static void drop_all(pctl_kernels *k)
{
	for (uint32_t i = 0; k->compiled != NULL && i < pctl_map_count(k->compiled); i++)
		pctl_program_destroy(pctl_map_value_at(k->compiled, i));
	for (uint32_t i = 0; k->units != NULL && i < pctl_map_count(k->units); i++)
		pctl_kernel_unit_destroy(pctl_map_value_at(k->units, i));
	pctl_map_destroy(k->compiled);
	pctl_map_destroy(k->units);
	pctl_arena_destroy(k->arena);
}

void pctl_kernels_destroy(pctl_kernels *k)
{
	if (k == NULL)
		return;
	drop_all(k);
	free(k);
}

uint32_t pctl_kernels_kept(const pctl_kernels *k)
{
	return pctl_map_count(k->compiled) + pctl_map_count(k->units);
}

uint64_t pctl_kernels_kept_bytes(const pctl_kernels *k)
{
	return k->bytes;
}

uint64_t pctl_kernels_age(const pctl_kernels *k)
{
	return k->age;
}

static pctl_status out_of_memory(const pctl_call *call)
{
	return pctl_no_memory(call, "a kernel");
}

pctl_status pctl_kernels_forget(pctl_kernels *k, const pctl_call *call)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_map *compiled = pctl_map_create(), *units = pctl_map_create();

	if (arena == NULL || compiled == NULL || units == NULL) {
		pctl_arena_destroy(arena);
		pctl_map_destroy(compiled);
		pctl_map_destroy(units);
		return out_of_memory(call);
	}
	drop_all(k);
	k->age++;
	k->bytes = 0;
	k->arena = arena;
	k->compiled = compiled;
	k->units = units;
	return PCTL_OK;
}

/* An instruction with what is known of it, about. */
#define INST_BYTES 320u

static uint64_t bytes_of(const pctl_program *p)
{
	return sizeof(*p) + (uint64_t)p->n_insts * INST_BYTES;
}

static pctl_status compiled_program(pctl_kernels *k, const pctl_kernel_source *s, const char *key,
				    const pctl_call *call, pctl_program **out)
{
	pctl_wgsl_options options = {s->name, s->flags, subgroup_of(k, s), &k->library};
	pctl_status status;

	*out = pctl_map_get(k->compiled, key);
	if (*out != NULL)
		return PCTL_OK;
	status = pctl_wgsl_compile(s->text, s->n_text, &options, call, out);
	if (status != PCTL_OK)
		return status;
	if (!pctl_map_put(k->compiled, key, *out)) {
		pctl_program_destroy(*out);
		*out = NULL;
		return out_of_memory(call);
	}
	k->bytes += strlen(key) + bytes_of(*out);
	return PCTL_OK;
}

static int keep_known(const pctl_kernel_source *s, pctl_kernel_module *u)
{
	pctl_known_binding *bindings = pctl_arena_array(u->arena, s->n_bindings, sizeof(*bindings));
	uint32_t *groups = pctl_arena_array(u->arena, 3, sizeof(*groups));

	if (bindings == NULL || groups == NULL)
		return 0;
	if (s->n_bindings != 0)
		memcpy(bindings, s->bindings, s->n_bindings * sizeof(*bindings));
	if (s->groups != NULL)
		memcpy(groups, s->groups, 3 * sizeof(*groups));
	u->known = (pctl_analysis_query){.groups = s->groups == NULL ? NULL : groups,
					 .bindings = bindings,
					 .n_bindings = s->n_bindings};
	return 1;
}

/* The unit's own copy of what it was made from, but for the text, which is kept once for all units of it: text is that copy. */
static pctl_status keep_source(const pctl_kernels *k, const pctl_kernel_source *s, const char *text,
			       pctl_kernel_module *u)
{
	u->name = pctl_arena_dup(u->arena, s->name);
	u->text = text;
	u->n_text = s->n_text;
	u->flags = s->flags;
	u->subgroup = subgroup_of(k, s);
	u->entry = s->entry == NULL ? NULL : pctl_arena_dup(u->arena, s->entry);
	u->overrides = pctl_arena_array(u->arena, s->n_overrides, sizeof(*u->overrides));
	if (u->name == NULL || (s->entry != NULL && u->entry == NULL) || u->overrides == NULL ||
	    !keep_known(s, u))
		return PCTL_E_NOMEM;
	for (uint32_t i = 0; i < s->n_overrides; i++) {
		const pctl_override_value *v = &s->overrides[i];
		pctl_override_value *mine = &u->overrides[u->n_overrides++];

		mine->bits = v->bits;
		mine->pos = NULL; /* of this caller's */
		mine->name = pctl_arena_dup(u->arena, v->name);
		mine->text = v->text == NULL ? NULL : pctl_arena_dup(u->arena, v->text);
		if (mine->name == NULL || (v->text != NULL && mine->text == NULL))
			return PCTL_E_NOMEM;
	}
	return PCTL_OK;
}

/* What the analysis leaves to the rules that a text was compiled under. */
static pctl_status check_proofs(const pctl_kernel_module *u, const pctl_call *call)
{
	const pctl_analysis *a = u->analysis;
	pctl_pos pos;

	if (a->loads_uniform != PCTL_PROOF_PROVEN && !(u->flags & PCTL_WGSL_RULES_1)) {
		pos = pctl_kernel_position(u, a->load_function, a->load_inst);
		return pctl_refuse_at(
			call, PC2053_ANALYSE_UNIFORM_LOAD, &pos, NULL,
			"it is not proved that all invocations of a workgroup load the same place");
	}
	for (uint32_t i = 0; i < a->n_loops && (u->flags & PCTL_WGSL_CONSENSUS); i++) {
		if (a->loops[i].bound_kind == PCTL_BOUND_SYNTACTIC)
			continue;
		pos = pctl_kernel_position(u, a->loops[i].function, a->loops[i].inst);
		return pctl_refuse_at(
			call, PC2050_ANALYSE_LOOP, &pos,
			"bound it by a literal, min(x, LITERAL), or a uniform with `//# max`",
			"no bound of this loop can be proved by the rules of the consensus "
			"VM, which do no arithmetic on constants");
	}
	return PCTL_OK;
}

/* The budget of loops that nothing bounds; 0: they are refused, as the consensus rules do. */
static uint32_t turns_of(const pctl_kernels *k, const pctl_kernel_source *s, const pctl_program *p)
{
	if (s->flags & PCTL_WGSL_CONSENSUS)
		return 0;
	return s->turns != 0	     ? s->turns
	       : k->turns == 0	     ? 0
	       : k->asked_turns != 0 ? k->asked_turns
	       : p->max_turns != 0   ? p->max_turns
				     : k->turns;
}

/* Its size, as far as turns do not come into it: what loops without a bound make is known when they have their budget. */
static pctl_status check_size(const pctl_kernels *k, const pctl_kernel_source *s,
			      const pctl_kernel_module *u, int with_turns, const pctl_call *call)
{
	if (k->policy == NULL || s->any_size)
		return PCTL_OK;
	return pctl_policy_program_allowed(k->policy, u->program, &u->known, with_turns, s->name,
					   call);
}

/* The program analysed; with a budget in its place, where loops need one. */
static pctl_status analyse(const pctl_kernels *k, const pctl_kernel_source *s,
			   pctl_kernel_module *u, const pctl_call *call)
{
	const uint32_t turns = turns_of(k, s, u->program);
	pctl_analysis_query query = u->known;
	pctl_program *counting = NULL;
	pctl_status status;

	query.flags = (s->flags & PCTL_WGSL_CONSENSUS ? PCTL_ANALYSE_RELEASED : 0) |
		      (turns != 0 ? PCTL_ANALYSE_UNBOUNDED : 0);
	if ((s->flags & PCTL_WGSL_CONSENSUS) != 0 && (s->flags & PCTL_WGSL_RULES_1) == 0)
		query.flags |= PCTL_ANALYSE_BRIEF;
	status = pctl_program_analyse(u->program, &query, call, &u->analysis);
	if (status != PCTL_OK || u->analysis->n_unbounded == 0)
		return status;
	status = pctl_legal_turns(u->program, u->analysis, turns, call, &counting);
	pctl_analysis_destroy(u->analysis);
	u->analysis = NULL;
	if (status != PCTL_OK)
		return status;
	pctl_program_destroy(u->program);
	u->program = counting;
	u->turns = turns;
	return pctl_program_analyse(u->program, &u->known, call, &u->analysis);
}

/* Two dispatches of one program may have other proofs: a device that skips the checks of one must not run the other. */
pctl_status pctl_kernel_name_build(pctl_kernel_module *u, const pctl_call *call)
{
	char cid_text[PCTL_CID_TEXT_SIZE];
	pctl_extents x;
	uint8_t *wire = NULL;
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status = pctl_program_extents(u->program, &u->known, call, &x);

	if (status == PCTL_OK)
		status = pctl_program_encode(u->program, call, &wire, &n);
	if (status == PCTL_OK)
		status = pctl_cid_of(wire, n, call, &cid);
	if (status == PCTL_OK)
		snprintf(u->build_key, sizeof(u->build_key), "%s-%" PRIu64,
			 pctl_cid_format(&cid, cid_text), x.need[PCTL_EXTENT_TURNS]);
	free(wire);
	return status;
}

/* In an arena of its own: anybody may ask for units that come to nothing. */
static pctl_kernel_module *empty_unit(void)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_kernel_module *u = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*u));

	if (u == NULL)
		pctl_arena_destroy(arena);
	else
		u->arena = arena;
	return u;
}

/*
 * Proofs spare devices their checks. Those of the consensus VM are told what holds for every dispatch and no more: who sends a job chooses its
 * dispatch, and what is proved of no other would be a kernel of its own, which every device builds, and nobody has paid for.
 */
static void mark_proven(pctl_kernels *k, const pctl_kernel_source *s, pctl_kernel_module *u)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	const pctl_kernel_module *any = u;
	pctl_kernel_source source = *s;

	source.groups = NULL;
	if (s->groups != NULL && (s->flags & PCTL_WGSL_CONSENSUS) != 0 &&
	    pctl_kernels_get(k, &source, &quiet, &any) != PCTL_OK)
		return;
	if (any->program->n_insts == u->program->n_insts)
		pctl_program_mark_proven(u->program, any->analysis);
}

static pctl_status make_unit(pctl_kernels *k, const pctl_kernel_source *s, const pctl_program *p,
			     const char *text, const pctl_call *call, pctl_kernel_module **out)
{
	const pctl_wgsl_options options = {s->name, s->flags, subgroup_of(k, s), &k->library};
	pctl_kernel_module *u = empty_unit();
	pctl_status status = PCTL_OK;

	*out = NULL;
	if (u == NULL)
		return out_of_memory(call);
	if (keep_source(k, s, text, u) != PCTL_OK)
		status = out_of_memory(call);
	if (status == PCTL_OK)
		status = pctl_wgsl_check_overrides(s->text, s->n_text, &options, p, s->entry,
						   s->overrides, s->n_overrides, call);
	if (status == PCTL_OK)
		status = pctl_program_specialise(p, s->entry, s->overrides, s->n_overrides, call,
						 &u->program);
	/* Of no interest where nothing comes of it. */
	if (status == PCTL_OK && pctl_program_subgroup_size(u->program) != u->subgroup)
		u->subgroup = 0;
	if (status == PCTL_OK)
		status = check_size(k, s, u, 0, call);
	if (status == PCTL_OK)
		status = analyse(k, s, u, call);
	if (status == PCTL_OK)
		status = check_size(k, s, u, 1, call);
	if (status == PCTL_OK)
		status = check_proofs(u, call);
	if (status == PCTL_OK)
		status = pctl_program_encode(u->program, call, &u->wire, &u->wire_bytes);
	if (status == PCTL_OK)
		status = pctl_cid_of(u->wire, u->wire_bytes, call, &u->cid);
	/* The identity is the program as written. */
	if (status == PCTL_OK) {
		mark_proven(k, s, u);
		status = pctl_kernel_name_build(u, call);
	}
	if (status != PCTL_OK) {
		pctl_kernel_unit_destroy(u);
		return status;
	}
	*out = u;
	return PCTL_OK;
}

/* The key is the whole source, so a hit is an equality; a text with a NUL in it would be cut there, so it is only shown
 * to the front end, which refuses it. */
static pctl_status refuse_nul(pctl_kernels *k, const pctl_kernel_source *s, const pctl_call *call)
{
	pctl_wgsl_options options = {s->name, s->flags, subgroup_of(k, s), &k->library};
	pctl_program *program;
	pctl_status status;

	if (memchr(s->text, '\0', s->n_text) == NULL)
		return PCTL_OK;
	status = pctl_wgsl_compile(s->text, s->n_text, &options, call, &program);
	if (status != PCTL_OK)
		return status;
	pctl_program_destroy(program);
	return pctl_refuse(call, PC1_INTERNAL, "the front end took a text with a NUL in it");
}

static char *key_of_text(const pctl_kernels *k, const pctl_kernel_source *s)
{
	pctl_str_buf key = PCTL_STR_BUF_INIT;

	pctl_str_addf(&key, "%s\n%" PRIu32 ",%" PRIu32 "\n", s->name, s->flags, subgroup_of(k, s));
	pctl_str_add_n(&key, s->text, s->n_text);
	return pctl_str_finish(&key);
}

pctl_status pctl_kernels_compiled(pctl_kernels *k, const pctl_kernel_source *s,
				  const pctl_call *call, const pctl_program **out)
{
	pctl_program *program = NULL;
	char *key;
	pctl_status status = refuse_nul(k, s, call);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	key = key_of_text(k, s);
	status = key == NULL ? out_of_memory(call) : compiled_program(k, s, key, call, &program);
	free(key);
	*out = program;
	return status;
}

pctl_status pctl_kernels_get(pctl_kernels *k, const pctl_kernel_source *s, const pctl_call *call,
			     const pctl_kernel_module **out)
{
	pctl_str_buf key = PCTL_STR_BUF_INIT;
	char *text_key = NULL, *unit_key = NULL;
	pctl_status status = refuse_nul(k, s, call);
	pctl_program *program = NULL;
	pctl_kernel_module *unit;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	text_key = key_of_text(k, s);
	status = text_key == NULL ? out_of_memory(call)
				  : compiled_program(k, s, text_key, call, &program);
	if (status != PCTL_OK)
		goto out;
	/* A text is its program, which is kept as long as units are. */
	pctl_str_addf(&key, "%p ", (void *)program);
	pctl_str_addf(&key, "%" PRIu32 ",%" PRIu32 "%s\n", s->any_size,
		      s->turns != 0 ? s->turns : k->asked_turns, s->entry == NULL ? "" : s->entry);
	if (s->groups != NULL)
		pctl_str_addf(&key, "%" PRIu32 ",%" PRIu32 ",%" PRIu32, s->groups[0], s->groups[1],
			      s->groups[2]);
	for (uint32_t i = 0; i < s->n_bindings; i++)
		pctl_str_addf(&key, ";%" PRIu32 ",%" PRIu32 ",%" PRIu64, s->bindings[i].group,
			      s->bindings[i].binding, s->bindings[i].n_bytes);
	for (uint32_t i = 0; i < s->n_overrides; i++)
		pctl_str_addf(&key, "\n%s=%" PRIu64 " %s", s->overrides[i].name,
			      s->overrides[i].bits,
			      s->overrides[i].text == NULL ? "" : s->overrides[i].text);
	unit_key = pctl_str_finish(&key);
	if (unit_key == NULL) {
		status = out_of_memory(call);
		goto out;
	}
	unit = pctl_map_get(k->units, unit_key);
	if (unit != NULL) {
		*out = unit;
		goto out;
	}
	status = make_unit(k, s, program,
			   pctl_map_key(k->compiled, text_key) + strlen(text_key) - s->n_text, call,
			   &unit);
	if (status != PCTL_OK)
		goto out;
	if (!pctl_map_put(k->units, unit_key, unit)) {
		pctl_kernel_unit_destroy(unit);
		status = out_of_memory(call);
		goto out;
	}
	k->bytes += strlen(unit_key) + bytes_of(unit->program) + unit->wire_bytes;
	*out = unit;
out:
	free(text_key);
	free(unit_key);
	return status;
}
