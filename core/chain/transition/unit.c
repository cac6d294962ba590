/* What an execute message is made of: the source from the store, its kernel under the rules, its uniform block. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chain_private.h"
#include "chain/data/data.h"
#include "chain/transition/submit.h"
#include "chain/messages/uniform.h"
#include "foundation/base/bytes.h"

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
		status = pctl_data_get(c, &cid, call, &blob);
	if (status != PCTL_OK)
		return status;
	made = pctl_arena_alloc(c->texts, sizeof(*made));
	if (made != NULL) {
		made->name = pctl_arena_dup(c->texts, cid_text);
		made->text = pctl_arena_dup_n(c->texts, (const char *)blob.data, blob.n_bytes);
		made->n_text = blob.n_bytes;
	}
	pctl_blob_release(&blob);
	if (made == NULL || made->name == NULL || made->text == NULL ||
	    !pctl_map_put(c->sources, cid_text, made))
		return pctl_no_memory(call, "a shader");
	c->source_bytes += made->n_text;
	*out = made;
	return PCTL_OK;
}

pctl_status pctl_chain_validation_gas(pctl_chain *c, const pctl_msg_execute *m,
				      const pctl_params *p, const pctl_call *call, uint64_t *out)
{
	const pctl_chain_source *source;
	const pctl_status status = pctl_chain_source_of(c, m->shader_cid, call, &source);

	*out = 0;
	if (status != PCTL_OK)
		return status;
	/* At most 2^20 bytes of a weight below 2^32. */
	*out = source->n_text * p->values[PCTL_PARAM_VALIDATION_COST];
	*out = *out < m->gas_limit ? *out : m->gas_limit;
	return PCTL_OK;
}

/* Kernels are found by their whole source, which is no matter for a message: what was found for one is found for the next by the names in it. */
static pctl_status open_units(pctl_chain *c, const pctl_params *p, const pctl_call *call)
{
	const uint64_t age = pctl_kernels_age(c->kernels);

	if (c->units != NULL && c->units_age == age && memcmp(&c->units_of, p, sizeof(*p)) == 0)
		return PCTL_OK;
	pctl_map_destroy(c->units);
	c->units = pctl_map_create();
	c->units_age = age;
	c->units_of = *p;
	return c->units == NULL ? pctl_no_memory(call, "a shader") : PCTL_OK;
}

/* Each part that is not a number with its length before it. */
static char *unit_key(const pctl_msg_execute *m)
{
	pctl_str_buf key = PCTL_STR_BUF_INIT;

	pctl_str_addf(&key, "%s %zu:%s %" PRIu32 " %" PRIu32 " %" PRIu32, m->shader_cid,
		      strlen(m->entry), m->entry, m->dispatch[0], m->dispatch[1], m->dispatch[2]);
	for (uint32_t i = 0; i < m->n_overrides; i++)
		pctl_str_addf(&key, " %zu:%s %" PRIu64, strlen(m->overrides[i].name),
			      m->overrides[i].name, m->overrides[i].bits);
	return pctl_str_finish(&key);
}

static pctl_status find_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			     const char *key, const pctl_call *call, const pctl_kernel_module **out)
{
	const pctl_chain_source *source;
	pctl_status status;

	*out = pctl_map_get(c->units, key);
	if (*out != NULL)
		return PCTL_OK;
	status = pctl_chain_source_of(c, m->shader_cid, call, &source);
	if (status == PCTL_OK)
		status = pctl_rules_concrete(c->kernels, source, m->entry, m->overrides,
					     m->n_overrides, m->dispatch, p, call, out);
	/* A map of pointers to what others keep. */
	return status == PCTL_OK && !pctl_map_put(c->units, key, (void *)(uintptr_t)*out)
		       ? pctl_no_memory(call, "a shader")
		       : status;
}

pctl_status pctl_chain_unit(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			    const pctl_call *call, const pctl_kernel_module **out)
{
	char *key = unit_key(m);
	pctl_status status =
		key == NULL ? pctl_no_memory(call, "a shader") : open_units(c, p, call);

	*out = NULL;
	if (status == PCTL_OK)
		status = find_unit(c, m, p, key, call, out);
	free(key);
	return status;
}

pctl_status pctl_chain_program(pctl_chain *c, const char *shader_cid, const pctl_params *p,
			       const pctl_call *call, const pctl_program **out)
{
	const pctl_chain_source *source;
	pctl_status status = open_units(c, p, call);

	*out = status == PCTL_OK ? pctl_map_get(c->units, shader_cid) : NULL;
	if (status != PCTL_OK || *out != NULL)
		return status;
	status = pctl_chain_source_of(c, shader_cid, call, &source);
	if (status == PCTL_OK)
		status = pctl_rules_compiled(c->kernels, source, p, call, out);
	return status == PCTL_OK && !pctl_map_put(c->units, shader_cid, (void *)(uintptr_t)*out)
		       ? pctl_no_memory(call, "a shader")
		       : status;
}

/* ---- uniforms ------------------------------------------------------------------------------ */

/* As unsigned numbers, so that a negative one is above every maximum. */
static pctl_status check_maxima(const pctl_program *p, const uint8_t *block, uint64_t n,
				const pctl_call *call)
{
	for (uint32_t i = 0; i < p->n_maxima; i++) {
		const pctl_max *m = &p->maxima[i];
		const pctl_var *v = &p->vars[m->var];
		uint64_t offset, value;
		uint32_t bytes;

		if (v->group != 0 || v->binding != 1 ||
		    !pctl_kernel_max_place(p, m, &offset, &bytes) || offset + bytes > n)
			continue;
		value = pctl_le_get(block + offset, bytes);
		if (value > m->value)
			return pctl_refuse(call, PC5814_JOB_UNIFORM_MAX,
					   "uniform \"%s\" holds %" PRIu64 " at offset %" PRIu64
					   ", its declared maximum is %" PRIu64,
					   pctl_str(p, v->name), value, offset, m->value);
	}
	return PCTL_OK;
}

/* That it is state was looked at where the job was taken in, from version 2 of the rules on. */
static pctl_status document(pctl_chain *c, const char *text, const pctl_params *p,
			    const pctl_call *call, pctl_blob *out)
{
	pctl_cid cid;
	pctl_status status = pctl_cid_read(text, call, &cid);

	if (status != PCTL_OK)
		return status;
	if (p->values[PCTL_PARAM_RULES] == PCTL_RULES_RELEASED && !pctl_store_has(c->store, &cid))
		return pctl_refuse(call, PC5816_JOB_MISSING, "uniforms: no %s in the store", text);
	status = pctl_data_get(c, &cid, call, out);
	if (status == PCTL_OK && out->n_bytes > PCTL_UNIFORM_CBOR_MAX) {
		status = pctl_refuse(call, PC5775_UNIFORM_SIZE,
				     "a document of %" PRIu64 " bytes, at most %u", out->n_bytes,
				     PCTL_UNIFORM_CBOR_MAX);
		pctl_blob_release(out);
	}
	return status;
}

pctl_status pctl_chain_uniform(pctl_chain *c, const pctl_msg_execute *m, const pctl_params *p,
			       const pctl_call *call, uint8_t **out, uint64_t *n_out)
{
	const int is_given = m->uniform_cid[0] != '\0';
	const pctl_program *program = NULL;
	const pctl_kernel_module *unit;
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
	status = pctl_chain_program(c, m->shader_cid, p, call, &program);
	if (status == PCTL_OK)
		status = document(c, m->uniform_cid, p, call, &blob);
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
