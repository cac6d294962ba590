/* Shaders made concrete: sources from the store, kernels under the rules of the consensus VM, uniform blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "chain/chain_private.h"
#include "chain/submit.h"
#include "chain/uniform.h"
#include "graph/pipeline.h"
#include "wgsl/wgsl.h"

/* Whether floats may run is a parameter: check_class. */
#define RULES (PCTL_WGSL_CONSENSUS | PCTL_WGSL_FLOATS)

static pctl_status no_memory(const pctl_call *call)
{
	return pctl_refuse(call, PC2_NOMEM, "no memory for a shader");
}

/* ---- sources and kernels ------------------------------------------------------------------- */

pctl_status pctl_chain_source_of(pctl_chain *c, const char *cid_text, const pctl_call *call,
				 const pctl_chain_source **out)
{
	pctl_chain_source *made = pctl_map_get(c->sources, cid_text);
	pctl_blob blob;
	pctl_cid cid;
	pctl_status status;

	*out = made;
	if (made != NULL)
		return PCTL_OK;
	status = pctl_cid_read(cid_text, call, &cid);
	if (status == PCTL_OK)
		status = pctl_store_get(c->store, &cid, call, &blob);
	if (status != PCTL_OK)
		return status;
	made = pctl_arena_alloc(c->arena, sizeof(*made));
	if (made != NULL) {
		made->cid = pctl_arena_dup(c->arena, cid_text);
		made->text = pctl_arena_dup_n(c->arena, (const char *)blob.data, blob.n_bytes);
		made->n_text = blob.n_bytes;
	}
	pctl_blob_release(&blob);
	if (made == NULL || made->cid == NULL || made->text == NULL ||
	    !pctl_map_put(c->sources, cid_text, made))
		return no_memory(call);
	*out = made;
	return PCTL_OK;
}

pctl_status pctl_chain_compiled(pctl_chain *c, const pctl_chain_source *source,
				const pctl_call *call, const pctl_program **out)
{
	const pctl_kernel_source kernel = {.name = source->cid,
					   .text = source->text,
					   .n_text = source->n_text,
					   .flags = RULES};

	return pctl_kernels_compiled(c->kernels, &kernel, call, out);
}

/* The override `canonical_scale`, or NULL. */
static const pctl_override *scale_override(const pctl_program *p)
{
	for (uint32_t i = 0; i < p->n_overrides; i++)
		if (strcmp(pctl_str(p, p->overrides[i].name), PCTL_SCALE_OVERRIDE) == 0)
			return &p->overrides[i];
	return NULL;
}

/* By its name, or by its @id in decimal. */
static int names_override(const pctl_program *p, const pctl_override *o, const char *name)
{
	uint64_t id;

	return strcmp(pctl_str(p, o->name), name) == 0 ||
	       (pctl_num_parse_u64(name, strlen(name), &id) && id == o->id);
}

pctl_status pctl_chain_concrete(pctl_chain *c, const pctl_chain_source *source, const char *entry,
				const pctl_msg_override *overrides, uint32_t n_overrides,
				const uint32_t *groups, const pctl_params *p, const pctl_call *call,
				const pctl_kernel_unit **out)
{
	pctl_override_value values[PCTL_MESSAGE_OVERRIDES_MAX + 1u];
	pctl_kernel_source kernel = {.name = source->cid,
				     .text = source->text,
				     .n_text = source->n_text,
				     .entry = entry[0] == '\0' ? NULL : entry,
				     .overrides = values,
				     .n_overrides = n_overrides,
				     .flags = RULES,
				     .groups = groups};
	const pctl_override *scale;
	const pctl_program *program;
	pctl_status status = pctl_chain_compiled(c, source, call, &program);

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	scale = scale_override(program);
	for (uint32_t i = 0; i < n_overrides; i++) {
		values[i] = (pctl_override_value){overrides[i].name, overrides[i].bits, NULL};
		if (scale != NULL && names_override(program, scale, overrides[i].name))
			return pctl_refuse(call, PC5820_JOB_SCALE,
					   "override \"%s\" is the chain's scale, %" PRIu64,
					   overrides[i].name, p->values[PCTL_PARAM_SCALE]);
	}
	if (scale != NULL)
		values[kernel.n_overrides++] = (pctl_override_value){
			PCTL_SCALE_OVERRIDE, p->values[PCTL_PARAM_SCALE], NULL};
	return pctl_kernels_get(c->kernels, &kernel, call, out);
}

pctl_status pctl_chain_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			    const pctl_call *call, const pctl_kernel_unit **out)
{
	const pctl_chain_source *source;
	pctl_status status = pctl_chain_source_of(c, m->shader_cid, call, &source);

	*out = NULL;
	return status == PCTL_OK ? pctl_chain_concrete(c, source, m->entry, m->overrides,
						       m->n_overrides, m->dispatch, p, call, out)
				 : status;
}

/* ---- the rules ----------------------------------------------------------------------------- */

static int is_bound(const pctl_var *v)
{
	return v->space == PCTL_SPACE_STORAGE || v->space == PCTL_SPACE_UNIFORM;
}

const pctl_var *pctl_chain_var(const pctl_program *p, uint32_t group, uint32_t binding)
{
	for (uint32_t i = 0; i < p->n_vars; i++)
		if (is_bound(&p->vars[i]) && p->vars[i].group == group &&
		    p->vars[i].binding == binding)
			return &p->vars[i];
	return NULL;
}

static pctl_status bad_var(const pctl_kernel_unit *u, const pctl_var *v, const char *why,
			   const pctl_call *call)
{
	const pctl_pos pos = {u->name, 0, 0, 0, 0};

	return pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
			      "variable \"%s\" at group %" PRIu32 " binding %" PRIu32 ": %s",
			      pctl_str(u->program, v->name), v->group, v->binding, why);
}

static pctl_status check_var(const pctl_kernel_unit *u, const pctl_var *v, const pctl_call *call)
{
	const int is_output = v->group == 1 && v->binding == 0;
	const int is_uniform = v->group == 0 && v->binding == 1;

	if (v->group > PCTL_MESSAGE_GROUP_MAX || v->binding > PCTL_MESSAGE_BINDING_MAX)
		return bad_var(u, v, "groups go to 3 and bindings to 999", call);
	if (is_uniform != (v->space == PCTL_SPACE_UNIFORM))
		return bad_var(u, v, "uniforms, and nothing else, are at group 0 binding 1", call);
	if (v->space == PCTL_SPACE_STORAGE && is_output != ((v->access & PCTL_ACCESS_WRITE) != 0))
		return bad_var(u, v,
			       is_output ? "the output is var<storage, read_write>"
					 : "only group 1 binding 0 may be written",
			       call);
	return PCTL_OK;
}

static pctl_status check_vars(const pctl_kernel_unit *u, const pctl_call *call)
{
	const pctl_pos pos = {u->name, 0, 0, 0, 0};
	const pctl_program *p = u->program;
	uint32_t n_storage = 0;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < p->n_vars; i++) {
		pctl_status one;

		if (!is_bound(&p->vars[i]))
			continue;
		n_storage += p->vars[i].space == PCTL_SPACE_STORAGE;
		one = check_var(u, &p->vars[i], call);
		if (status == PCTL_OK)
			status = one;
	}
	if (status == PCTL_OK && pctl_chain_var(p, 0, 0) == NULL)
		status = pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
					"the entry point uses no input at group 0 binding 0");
	if (status == PCTL_OK && pctl_chain_var(p, 1, 0) == NULL)
		status = pctl_refuse_at(call, PC5807_SHADER_INTERFACE, &pos, NULL,
					"the entry point uses no output at group 1 binding 0");
	if (status == PCTL_OK && n_storage > PCTL_CHAIN_STORAGE_MAX)
		status = pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
					"%" PRIu32 " storage buffers, at most %u", n_storage,
					PCTL_CHAIN_STORAGE_MAX);
	return status;
}

static pctl_status check_limits(const pctl_kernel_unit *u, const pctl_call *call)
{
	static const uint32_t most[3] = {256, 256, 64};
	const pctl_pos pos = {u->name, 0, 0, 0, 0};
	const uint32_t *size = u->program->entries[0].workgroup_size;

	for (uint32_t d = 0; d < 3; d++)
		if (size[d] > most[d])
			return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
					      "%" PRIu32 " invocations along %c, at most %" PRIu32,
					      size[d], "xyz"[d], most[d]);
	if (u->analysis->invocations > PCTL_CHAIN_INVOCATIONS_MAX)
		return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
				      "%" PRIu64 " invocations in a workgroup, at most %u",
				      u->analysis->invocations, PCTL_CHAIN_INVOCATIONS_MAX);
	if (u->analysis->workgroup_bytes > PCTL_MESSAGE_SHARED_MAX)
		return pctl_refuse_at(call, PC5809_SHADER_LIMIT, &pos, NULL,
				      "%" PRIu64 " bytes of workgroup memory, at most %u",
				      u->analysis->workgroup_bytes, PCTL_MESSAGE_SHARED_MAX);
	return PCTL_OK;
}

static pctl_status check_races(const pctl_kernel_unit *u, const pctl_call *call)
{
	const pctl_analysis *a = u->analysis;
	pctl_pos pos;

	if (a->order_dependent) {
		pos = pctl_kernel_order_position(u);
		return pctl_refuse_at(call, PC5808_SHADER_RACE, &pos, NULL,
				      "the order of these atomics shows");
	}
	if (a->race == PCTL_PROOF_PROVEN)
		return PCTL_OK;
	pos = pctl_kernel_position(u, a->race_function[0], a->race_inst[0]);
	return pctl_refuse_at(
		call, PC5808_SHADER_RACE, &pos,
		u->program->max_dispatch[0] == 0
			? "declare the largest dispatch, as in `//# max dispatch = 64,1,1`"
			: NULL,
		"%s",
		a->race == PCTL_PROOF_REFUTED
			? "two invocations touch the same bytes"
			: "that no two invocations touch the same bytes is not proved");
}

/* Above the class that is allowed: the place of its first float. */
static pctl_status check_class(const pctl_kernel_unit *u, const pctl_params *params,
			       const pctl_call *call)
{
	const uint64_t allowed = params->values[PCTL_PARAM_CLASS];
	const pctl_program *p = u->program;
	pctl_pos pos = {u->name, 0, 0, 0, 0};

	if (u->analysis->determinism <= allowed)
		return PCTL_OK;
	for (uint32_t f = 0; f < p->n_functions && pos.line == 0; f++)
		for (uint32_t i = 0; i < p->functions[f].n_insts && pos.line == 0; i++)
			if (PCTL_IS_STRICT(p->insts[p->functions[f].first_inst + i].op))
				pos = pctl_kernel_position(u, f, i);
	return pctl_refuse_at(
		call, PC5806_JOB_CLASS, &pos, NULL, "the shader is of class %s, allowed is %s",
		pctl_class_name(u->analysis->determinism), pctl_class_name((uint32_t)allowed));
}

pctl_status pctl_chain_check_unit(const pctl_kernel_unit *u, const pctl_params *p,
				  const pctl_call *call)
{
	pctl_status status = check_class(u, p, call);

	if (status == PCTL_OK)
		status = check_vars(u, call);
	if (status == PCTL_OK)
		status = check_limits(u, call);
	return status == PCTL_OK ? check_races(u, call) : status;
}

/* ---- uniforms ------------------------------------------------------------------------------ */

/* As unsigned numbers, so that a negative one is above every maximum. */
static pctl_status check_maxima(const pctl_program *p, const uint8_t *block, uint64_t n,
				const pctl_call *call)
{
	for (uint32_t i = 0; i < p->n_maxima; i++) {
		const pctl_max *m = &p->maxima[i];
		const pctl_var *v = &p->vars[m->var];
		uint64_t offset, value = 0;
		uint32_t bytes;

		if (v->group != 0 || v->binding != 1 ||
		    !pctl_kernel_max_place(p, m, &offset, &bytes) || offset + bytes > n)
			continue;
		for (uint32_t k = 0; k < bytes; k++)
			value |= (uint64_t)block[offset + k] << (8 * k);
		if (value > m->value)
			return pctl_refuse(call, PC5814_JOB_UNIFORM_MAX,
					   "uniform \"%s\" holds %" PRIu64 " at offset %" PRIu64
					   ", its declared maximum is %" PRIu64,
					   pctl_str(p, v->name), value, offset, m->value);
	}
	return PCTL_OK;
}

static pctl_status document(pctl_chain *c, const char *text, const pctl_call *call, pctl_blob *out)
{
	uint64_t n = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_read(text, call, &cid);

	if (status != PCTL_OK)
		return status;
	if (!pctl_store_has(c->store, &cid))
		return pctl_refuse(call, PC5816_JOB_MISSING, "uniforms: no %s in the store", text);
	status = pctl_store_size(c->store, &cid, call, &n);
	if (status == PCTL_OK && n > PCTL_UNIFORM_CBOR_MAX)
		return pctl_refuse(call, PC5775_UNIFORM_SIZE,
				   "a document of %" PRIu64 " bytes, at most %u", n,
				   PCTL_UNIFORM_CBOR_MAX);
	return status == PCTL_OK ? pctl_store_get(c->store, &cid, call, out) : status;
}

pctl_status pctl_chain_uniform(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	const int is_given = m->uniform_cid[0] != '\0';
	const pctl_chain_source *source;
	const pctl_program *program = NULL;
	const pctl_kernel_unit *unit;
	pctl_blob blob;
	pctl_status status = pctl_chain_unit(c, m, p, call, &unit);

	*out = NULL;
	*n_out = 0;
	if (status != PCTL_OK)
		return status;
	if (is_given != (pctl_chain_var(unit->program, 0, 1) != NULL))
		return pctl_refuse(call, PC5813_JOB_UNIFORM,
				   is_given ? "a document is given, but the entry point uses no "
					      "uniforms"
					    : "the entry point uses uniforms, but no document is "
					      "given");
	if (!is_given)
		return PCTL_OK;
	status = pctl_chain_source_of(c, m->shader_cid, call, &source);
	if (status == PCTL_OK)
		status = pctl_chain_compiled(c, source, call, &program);
	if (status == PCTL_OK)
		status = document(c, m->uniform_cid, call, &blob);
	if (status != PCTL_OK)
		return status;
	status = pctl_uniform_decode(program, blob.data, blob.n_bytes, call, out, n_out);
	pctl_blob_release(&blob);
	if (status == PCTL_OK)
		status = check_maxima(program, *out, *n_out, call);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
		*n_out = 0;
	}
	return status;
}
