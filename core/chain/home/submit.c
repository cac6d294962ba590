/* Messages put in the order and the form in which they are taken in; see submit.h. */
#include "chain/home/submit.h"

#include <stdlib.h>
#include <string.h>

#include "chain/home/pipeline.h"
#include "chain/home/provide.h"
#include "foundation/base/order.h"

/* Ascending, as messages have them. */
static pctl_status sorted(pctl_arena *arena, const char *const *from, uint32_t n,
			  const pctl_call *call, const char ***out)
{
	*out = pctl_arena_array(arena, n, sizeof(**out));
	if (*out == NULL)
		return pctl_no_memory(call, "a message");
	for (uint32_t i = 0; i < n; i++)
		(*out)[i] = from[i];
	if (n > 1)
		qsort(*out, n, sizeof(**out), pctl_order_texts);
	return PCTL_OK;
}

/* ---- shaders ------------------------------------------------------------------------------- */

static pctl_status upload(pctl_chain *c, const pctl_msg_upload *given, pctl_arena *arena,
			  const pctl_call *call, pctl_response *out)
{
	pctl_request r = {.kind = PCTL_MSG_UPLOAD, .as.upload = *given};
	pctl_msg_upload *m = &r.as.upload;
	const char **tags;
	pctl_status status = sorted(arena, given->tags, given->n_tags, call, &tags);

	if (status != PCTL_OK)
		return status;
	m->description = given->description == NULL ? "" : given->description;
	m->implements = given->implements == NULL ? "" : given->implements;
	m->tags = tags;
	m->n_tags = 0;
	for (uint32_t i = 0; i < given->n_tags; i++)
		if (m->n_tags == 0 || strcmp(tags[m->n_tags - 1], tags[i]) != 0)
			tags[m->n_tags++] = tags[i];
	return pctl_chain_apply(c, &r, call, out);
}

pctl_status pctl_home_upload(pctl_chain *c, const pctl_msg_upload *given, const pctl_call *call,
			     pctl_response *out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_status status;

	*out = (pctl_response){.kind = 0};
	status = arena == NULL ? pctl_no_memory(call, "a message")
			       : upload(c, given, arena, call, out);
	pctl_arena_destroy(arena);
	return status;
}

/* ---- jobs ---------------------------------------------------------------------------------- */

/* What a job is made of; text of CIDs is the caller's. */
typedef struct making {
	pctl_installation *in;
	pctl_chain *c;
	const pctl_home_job *from;
	pctl_arena *arena;
	const pctl_call *call;
	char shader[PCTL_CID_TEXT_SIZE], uniform[PCTL_CID_TEXT_SIZE];
} making;

static pctl_status bind(making *k, pctl_msg_execute *m)
{
	const uint32_t n = k->from->n_bindings;
	pctl_msg_binding *to = pctl_arena_array(k->arena, n, sizeof(*to));

	if (to == NULL)
		return pctl_no_memory(k->call, "a job");
	for (uint32_t i = 0; i < n; i++)
		to[i] = k->from->bindings[i];
	if (n > 1)
		qsort(to, n, sizeof(*to), pctl_msg_binding_order);
	m->bindings = to;
	m->n_bindings = n;
	return PCTL_OK;
}

static pctl_status order(making *k, pctl_msg_execute *m)
{
	const pctl_home_job *from = k->from;
	const char **parents, **after = NULL;
	pctl_status status = sorted(k->arena, from->parents, from->n_parents, k->call, &parents);

	if (status == PCTL_OK)
		status = sorted(k->arena, from->after, from->n_after, k->call, &after);
	m->parent_jobs = parents;
	m->n_parent_jobs = from->n_parents;
	m->after = after;
	m->n_after = from->n_after;
	return status;
}

static pctl_status uniform(making *k, pctl_msg_execute *m)
{
	pctl_cid cid;
	pctl_status status;

	m->uniform_cid = k->from->uniform == NULL ? "" : k->from->uniform;
	if (k->from->document == NULL)
		return PCTL_OK;
	status = pctl_store_put(pctl_chain_store(k->c), k->from->document, k->from->n_document,
				k->call, &cid);
	if (status == PCTL_OK)
		m->uniform_cid = pctl_cid_format(&cid, k->uniform);
	return status;
}

static pctl_status overrides(making *k, pctl_msg_execute *m)
{
	const uint32_t n = k->from->n_overrides;
	pctl_override_value *values = pctl_arena_array(k->arena, n, sizeof(*values));

	if (values == NULL)
		return pctl_no_memory(k->call, "a job");
	for (uint32_t i = 0; i < n; i++)
		values[i] = (pctl_override_value){.name = k->from->overrides[i].name,
						  .text = k->from->overrides[i].value};
	return pctl_home_overrides(k->in, k->c, values, n, k->arena, k->call, m);
}

static pctl_status make(making *k, pctl_msg_execute *m)
{
	const pctl_home_job *from = k->from;
	pctl_status status = pctl_home_shader(k->c, from->shader, k->call, k->shader);

	*m = (pctl_msg_execute){
		.sender = from->sender,
		.shader_cid = k->shader,
		.input = from->input,
		.dispatch = {from->dispatch[0], from->dispatch[1], from->dispatch[2]},
		.gas_limit = from->gas_limit,
		.parent_clock = from->parent_clock,
		.output_bytes = from->output_bytes,
		.tip = from->tip,
		.entry = from->entry == NULL ? "" : from->entry};
	if (status == PCTL_OK)
		status = bind(k, m);
	if (status == PCTL_OK)
		status = order(k, m);
	if (status == PCTL_OK)
		status = uniform(k, m);
	return status == PCTL_OK ? overrides(k, m) : status;
}

pctl_status pctl_home_submit_job(pctl_installation *in, pctl_chain *c, const pctl_home_job *given,
				 const pctl_call *call, pctl_chain_job *out)
{
	making k = {.in = in, .c = c, .from = given, .arena = pctl_arena_create(), .call = call};
	pctl_request r = {.kind = PCTL_MSG_EXECUTE};
	pctl_response taken = {.kind = 0};
	pctl_status status =
		k.arena == NULL ? pctl_no_memory(call, "a job") : make(&k, &r.as.execute);

	out->message = NULL;
	if (status == PCTL_OK)
		status = pctl_home_provide(c, &r.as.execute, call);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, call, &taken);
	if (status == PCTL_OK)
		status = pctl_home_job_read(c, taken.as.execute.job_id, call, out);
	if (status == PCTL_OK)
		pctl_home_shader_warn(c, k.shader, call);
	pctl_response_destroy(&taken);
	pctl_arena_destroy(k.arena);
	return status;
}

/* ---- reading back -------------------------------------------------------------------------- */

pctl_status pctl_home_job_id(const char *text, const pctl_call *call,
			     uint8_t out[PCTL_DIGEST_BYTES])
{
	if (strncmp(text, "job:", 4) == 0)
		text += 4;
	return pctl_job_id_parse(text, out)
		       ? PCTL_OK
		       : pctl_refuse(call, PC5801_JOB_UNKNOWN,
				     "\"%.80s\" is not 64 lower-case hex digits", text);
}

pctl_status pctl_home_job_read(pctl_chain *c, const char *id, const pctl_call *call,
			       pctl_chain_job *out)
{
	uint8_t bytes[PCTL_DIGEST_BYTES];
	pctl_status status = pctl_home_job_id(id, call, bytes);

	out->message = NULL;
	if (status == PCTL_OK)
		status = pctl_jobs_read(pctl_cursor(c), bytes, call, out);
	if (status == PCTL_OK)
		out->status = pctl_chain_job_status(c, out);
	return status;
}

pctl_status pctl_home_block(pctl_chain *c, uint64_t height, const pctl_call *call,
			    pctl_block_row *out)
{
	pctl_chain_state *s = pctl_cursor(c);
	pctl_status status = height == 0 ? pctl_blocks_last(s, call, out)
					 : pctl_blocks_read(s, height, call, out);

	/* Before the first block there is none to show, and that is said of it. */
	return status == PCTL_OK && out->height == 0 ? pctl_blocks_read(s, 1, call, out) : status;
}
