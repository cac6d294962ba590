/* Taking a shader into the registry: the rules, its profile, and its rows. */
#include <stdlib.h>
#include <string.h>

#include "chain/chain_private.h"
#include "chain/graph/edges.h"
#include "chain/registry/accept.h"
#include "chain/fee.h"
#include "chain/registry/own.h"
#include "chain/registry/registry.h"
#include "chain/state/cursor.h"
#include "chain/registry/rules.h"

/* ---- the profile --------------------------------------------------------------------------- */

static pctl_msg_tick tick_of(const pctl_tick *k, uint32_t i, int is_last)
{
	return (pctl_msg_tick){.tick_index = i,
			       .integer_ops = k->integer_ops,
			       .division_ops = k->division_ops,
			       .atomic_ops = k->atomic_ops,
			       .float_ops = k->float_ops,
			       .float_division_ops = k->float_division_ops,
			       .elementary_ops = k->elementary_ops,
			       .storage_reads_bytes = k->storage_read_bytes,
			       .storage_writes_bytes = k->storage_write_bytes,
			       .barrier_type = is_last ? 0 : k->barrier,
			       .barriers = is_last ? 0 : k->barriers};
}

static pctl_status profile_of(const pctl_taking *t, const pctl_kernel_module *u,
			      const pctl_program *program, pctl_msg_profile *out)
{
	const pctl_gas_schedule *schedule;
	const pctl_gas_query q = {.program = u->program, .analysis = u->analysis};
	pctl_gas_price price;
	pctl_msg_tick *ticks;
	pctl_tick *counted;
	uint64_t *weights;
	uint32_t n;
	pctl_status status = pctl_chain_prices(t->c, &t->params, t->call, &schedule);

	if (status == PCTL_OK)
		status = pctl_gas_price_of(schedule, &q, t->call, &price);
	if (status == PCTL_OK)
		status = pctl_gas_ticks(schedule, u->program, u->analysis, t->arena, t->call,
					&counted, &weights, &n);
	if (status != PCTL_OK)
		return status;
	ticks = pctl_arena_array(t->arena, n, sizeof(*ticks));
	if (ticks == NULL)
		return pctl_no_memory(t->call, "a shader");
	for (uint32_t i = 0; i < n; i++)
		ticks[i] = tick_of(&counted[i], i, i + 1 == n);
	*out = (pctl_msg_profile){.ticks = ticks,
				  .n_ticks = n,
				  .cost_per_workgroup = price.cost_per_workgroup,
				  .max_loop_iterations = u->analysis->max_loop_iterations,
				  .workgroup_shared_bytes = u->analysis->workgroup_bytes};
	for (uint32_t d = 0; d < 3; d++)
		out->max_dispatch[d] = program->max_dispatch[d];
	return PCTL_OK;
}

/* The profile is the first entry point's; instructions are those of all n. */
typedef struct profiling {
	const pctl_taking *t;
	pctl_msg_profile *out;
	uint64_t n, instructions;
} profiling;

static pctl_status take_each(void *ctx, uint32_t entry, const pctl_kernel_module *u,
			     const pctl_program *program)
{
	profiling *p = ctx;
	uint64_t n = 0;
	pctl_status status = pctl_accept_instructions(u, p->t->call, &n);

	p->n++;
	p->instructions += n; /* at most 8192 an entry point of a text */
	return status == PCTL_OK && entry == 0 ? profile_of(p->t, u, program, p->out) : status;
}

/* Accepted, and paid for what devices will do for it. */
static pctl_status examine(const pctl_taking *t, const pctl_chain_source *source,
			   const char *sender, uint32_t origin, pctl_msg_profile *out)
{
	profiling p = {.t = t, .out = out};
	pctl_status status =
		pctl_rules_accept_source(t->c->kernels, source, &t->params, t->call, take_each, &p);

	return status == PCTL_OK && pctl_fee_is_due(t, origin)
		       ? pctl_fee_build(t, sender, p.n, p.instructions)
		       : status;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static pctl_status add_edge(const pctl_taking *t, uint32_t kind, const char *source,
			    const char *target)
{
	const pctl_edge e = {.kind = kind,
			     .source = source,
			     .target = target,
			     .via = "",
			     .job = "",
			     .height = t->height,
			     .clock = t->clock};

	return source == NULL ? pctl_no_memory(t->call, "a shader")
			      : pctl_edges_add(t->s, &e, t->call);
}

static pctl_status add_rows(const pctl_taking *t, const pctl_msg_upload *m, const char *cid)
{
	uint8_t *profile = NULL;
	uint64_t n_profile = 0;
	pctl_status status = pctl_response_encode(t->out, t->call, &profile, &n_profile);

	if (status == PCTL_OK)
		status = pctl_cursor_write(t->s, t->call,
					   "INSERT INTO shaders (cid, sender, height, description, "
					   "implements, profile, deprecated) VALUES "
					   "(?, ?, ?, ?, ?, ?, 0)",
					   "tthttb", cid, m->sender, t->height, m->description,
					   m->implements, profile, n_profile);
	free(profile);
	for (uint32_t i = 0; status == PCTL_OK && i < m->n_tags; i++)
		status = pctl_cursor_write(t->s, t->call, "INSERT INTO shader_tags VALUES (?, ?)",
					   "tt", m->tags[i], cid);
	if (status == PCTL_OK)
		status = add_edge(t, PCTL_EDGE_UPLOAD,
				  pctl_arena_printf(t->arena, "account:%s", m->sender), cid);
	if (status == PCTL_OK && m->implements[0] != '\0')
		status = add_edge(t, PCTL_EDGE_IMPLEMENTS, cid, m->implements);
	return status;
}

/* It is there already: the answer of then, copied. */
static pctl_status answer_again(const pctl_taking *t, const char *cid)
{
	const pctl_msg_profile *p;
	pctl_msg_tick *ticks;
	pctl_shader_row row;
	pctl_status status = pctl_shaders_read(t->s, cid, t->call, &row);

	if (status != PCTL_OK)
		return status;
	p = &row.profile.as.upload.profile;
	ticks = pctl_arena_array(t->arena, p->n_ticks, sizeof(*ticks));
	if (ticks != NULL) {
		memcpy(ticks, p->ticks, p->n_ticks * sizeof(*ticks));
		t->out->as.upload.profile = *p;
		t->out->as.upload.profile.ticks = ticks;
	}
	pctl_shader_row_clear(&row);
	return ticks == NULL ? pctl_no_memory(t->call, "a shader") : PCTL_OK;
}

pctl_status pctl_apply_upload(const pctl_taking *t, const pctl_msg_upload *m, uint32_t origin)
{
	const pctl_chain_source source = {.text = (const char *)m->source, .n_text = m->n_source};
	pctl_chain_source named = source;
	char text[PCTL_CID_TEXT_SIZE];
	uint64_t deprecated;
	int found = 0, is_engines = 0;
	pctl_cid cid;
	pctl_status status = pctl_cid_of(m->source, m->n_source, t->call, &cid);

	if (status != PCTL_OK)
		return status;
	named.name = t->out->as.upload.shader_cid =
		pctl_arena_dup(t->arena, pctl_cid_format(&cid, text));
	if (named.name == NULL)
		return pctl_no_memory(t->call, "a shader");
	if (pctl_params_has_stakes(&t->params) && strcmp(m->sender, PCTL_EPOCH_ACCOUNT) != 0)
		status = pctl_epoch_is_shader(named.name, t->call, &is_engines);
	if (status == PCTL_OK && is_engines)
		status = pctl_refuse(t->call, PC5895_ENGINE_SHADER, "shader %s", named.name);
	if (status != PCTL_OK)
		return status;
	status = pctl_shaders_look(t->s, named.name, t->call, &found, &deprecated);
	if (status == PCTL_OK && found)
		return answer_again(t, named.name);
	if (status == PCTL_OK)
		status = examine(t, &named, m->sender, origin, &t->out->as.upload.profile);
	if (status == PCTL_OK)
		status = pctl_store_put(pctl_chain_keeps(t->c), m->source, m->n_source, t->call,
					NULL);
	return status == PCTL_OK ? add_rows(t, m, named.name) : status;
}
