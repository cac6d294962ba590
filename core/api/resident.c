/* Pipelines that stay on a device; see resident.h. */
#include <stdlib.h>
#include <string.h>

#include "api/private.h"
#include "host/resident.h"
#include "pipectl/resident.h"

/* Residents that share, and the pipelines that they were opened of, which stay until the last of them is released. */
struct together {
	uint32_t n_open, n;
	pipectl_pipeline **pipelines;
};

/* names: of changing inputs, then of read outputs. in, out: of the step under way. */
struct pipectl_resident {
	pipectl *p;
	struct together *together;
	pctl_arena *arena;
	pctl_resident *resident;
	const char **names;
	pctl_resident_input *in;
	pctl_resident_output *out;
	pctl_cid *cids;
	uint32_t n_changing, n_reads, telemetry, reserved;
};

static void leave(struct together *t)
{
	if (t == NULL || --t->n_open != 0)
		return;
	while (t->n > 0)
		pipectl_pipeline_release(t->pipelines[--t->n]);
	free(t->pipelines);
	free(t);
}

void pipectl_resident_release(pipectl_resident *r)
{
	if (r == NULL)
		return;
	pctl_resident_close(r->resident);
	leave(r->together);
	pctl_arena_destroy(r->arena);
	free(r);
}

/* Before it is opened: afterwards nothing may fail. */
static pctl_status enter(pipectl_resident *r, pipectl_resident *sharing, pipectl_pipeline *pl)
{
	struct together *t = sharing == NULL ? calloc(1, sizeof(*t)) : sharing->together;
	pipectl_pipeline **grown =
		t == NULL ? NULL : realloc(t->pipelines, (t->n + 1u) * sizeof(pipectl_pipeline *));

	if (grown == NULL) {
		if (sharing == NULL)
			free(t);
		return pctl_no_memory(&r->p->call, "a resident run");
	}
	t->pipelines = grown;
	t->pipelines[t->n++] = pl;
	pl->users++;
	t->n_open++;
	r->together = t;
	return PCTL_OK;
}

static pctl_status take_options(pipectl *p, const pipectl_resident_options *options,
				pctl_arena *arena, pctl_resident_options *out,
				pipectl_resident **sharing)
{
	pipectl_resident_options o;
	pctl_resident_state *states;
	pctl_status status = PIPECTL_TAKE(&p->call, &o, options);

	if (status != PCTL_OK)
		return status;
	if ((o.n_changing != 0 && o.changing == NULL) || (o.n_states != 0 && o.states == NULL) ||
	    (o.n_reads != 0 && o.reads == NULL))
		return pipectl_misused(&p->call, "names are counted, and there are none");
	states = pctl_arena_array(arena, o.n_states, sizeof(*states));
	if (states == NULL)
		return pctl_no_memory(&p->call, "a resident run");
	for (uint32_t i = 0; i < o.n_states; i++) {
		states[i] = (pctl_resident_state){o.states[i].name, o.states[i].value};
		if (states[i].input == NULL)
			return pipectl_misused(&p->call, "a state has no name");
	}
	for (uint32_t i = 0; i < o.n_changing + o.n_reads; i++)
		if ((i < o.n_changing ? o.changing[i] : o.reads[i - o.n_changing]) == NULL)
			return pipectl_misused(&p->call, "an input or output has no name");
	if (o.sharing != NULL && o.sharing->p != p)
		return pipectl_misused(&p->call, "what is shared is of another handle");
	*sharing = o.sharing;
	*out = (pctl_resident_options){.changing = o.changing,
				       .states = states,
				       .reads = o.reads,
				       .n_changing = o.n_changing,
				       .n_states = o.n_states,
				       .n_reads = o.n_reads,
				       .sharing = o.sharing == NULL ? NULL : o.sharing->resident,
				       .memory_bytes = o.memory_bytes,
				       .history_bytes = o.history_bytes};
	return PCTL_OK;
}

static pctl_status make_room(pipectl_resident *r, const pctl_resident_options *how)
{
	const uint32_t n = how->n_changing + how->n_reads;

	r->n_changing = how->n_changing;
	r->n_reads = how->n_reads;
	r->names = pctl_arena_array(r->arena, n, sizeof(*r->names));
	r->in = pctl_arena_array(r->arena, how->n_changing, sizeof(*r->in));
	r->out = pctl_arena_array(r->arena, how->n_reads, sizeof(*r->out));
	r->cids = pctl_arena_array(r->arena, how->n_reads, sizeof(*r->cids));
	if (r->names == NULL || r->in == NULL || r->out == NULL || r->cids == NULL)
		return pctl_no_memory(&r->p->call, "a resident run");
	for (uint32_t i = 0; i < n; i++)
		r->names[i] = pctl_arena_dup(r->arena, i < how->n_changing
							       ? how->changing[i]
							       : how->reads[i - how->n_changing]);
	return pctl_arena_failed(r->arena) ? pctl_no_memory(&r->p->call, "a resident run")
					   : PCTL_OK;
}

static pctl_status open_resident(pipectl_pipeline *pl, const pipectl_run_options *run,
				 const pipectl_resident_options *options, pipectl_resident *r)
{
	pipectl *p = pl->p;
	pctl_resident_options how;
	pctl_run_options o;
	pctl_run_request q;
	pipectl_run_options asked;
	pipectl_resident *sharing = NULL;
	pctl_status status = PIPECTL_TAKE(&p->call, &asked, run);

	if (status == PCTL_OK && asked.flags & PIPECTL_RUN_RECEIPT)
		status = pipectl_misused(&p->call, "a resident run gives no receipt");
	if (status == PCTL_OK)
		status = pipectl_request(p, run, r->arena, &q);
	if (status == PCTL_OK)
		status = take_options(p, options, r->arena, &how, &sharing);
	if (status == PCTL_OK)
		status = pctl_request_run_options(&p->host, &q, &p->call, &o);
	if (status == PCTL_OK)
		status = make_room(r, &how);
	if (status == PCTL_OK)
		status = enter(r, sharing, pl);
	if (status == PCTL_OK)
		status =
			pctl_host_resident(&p->host, &pl->loaded, &o, &how, &p->call, &r->resident);
	if (status == PCTL_OK)
		r->telemetry = p->host.policy->telemetry;
	return status;
}

pctl_status pipectl_resident_open(pipectl_pipeline *pl, const pipectl_run_options *run,
				  const pipectl_resident_options *options, pipectl_resident **out)
{
	pctl_status status = pipectl_begin(pl->p, pl->loaded_said, "run");
	pipectl_resident *r = NULL;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	r = calloc(1, sizeof(*r));
	if (r == NULL || (r->arena = pctl_arena_create()) == NULL) {
		free(r);
		return pipectl_end(pl->p, pctl_no_memory(&pl->p->call, "a resident run"));
	}
	r->p = pl->p;
	status = pipectl_end(pl->p, open_resident(pl, run, options, r));
	if (status == PCTL_OK)
		*out = r;
	else
		pipectl_resident_release(r);
	return status;
}

/* ---- what is known ------------------------------------------------------------------------ */

static const char *evidence_text(pipectl_resident *r, pctl_evidence e)
{
	char text[PCTL_EVIDENCE_TEXT];

	return pctl_arena_dup(r->arena, pctl_evidence_text(e, text));
}

pctl_status pipectl_resident_describe(pipectl_resident *r, pipectl_resident_facts *out)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);
	pctl_resident_facts f;
	pipectl_resident_facts facts = {.head = PCTL_HEAD(pipectl_resident_facts)};

	if (status != PCTL_OK)
		return status;
	pctl_resident_facts_of(r->resident, &f);
	facts.steps = f.steps;
	facts.dispatches = f.dispatches;
	facts.transfers = f.transfers;
	facts.barriers = f.barriers;
	facts.written_bytes = f.written_bytes;
	facts.read_bytes = f.read_bytes;
	facts.constant_bytes = f.constant_bytes;
	facts.state_bytes = f.state_bytes;
	facts.pool_bytes = f.pool_bytes;
	facts.live_bytes = f.live_bytes;
	facts.total_bytes = f.total_bytes;
	facts.gas = f.gas;
	facts.device = f.device;
	facts.evidence = evidence_text(r, f.evidence);
	if (facts.evidence == NULL)
		return pipectl_end(r->p, pctl_no_memory(&r->p->call, "facts"));
	return pipectl_end(r->p, PIPECTL_GIVE(&r->p->call, out, &facts));
}

static pctl_status give_port(pipectl_resident *r, const char *name, const pctl_tensor_type *type,
			     pipectl_resident_port *out)
{
	pipectl_resident_port port = {.head = PCTL_HEAD(pipectl_resident_port),
				      .name = name,
				      .dtype = pctl_dtype_name(type->dtype),
				      .dims = type->dim,
				      .rank = type->rank};

	(void)pctl_type_bytes(type, &port.n_bytes);
	return PIPECTL_GIVE(&r->p->call, out, &port);
}

pctl_status pipectl_resident_input(pipectl_resident *r, uint32_t i, pipectl_resident_port *out)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);

	if (status == PCTL_OK && i >= r->n_changing)
		status = pipectl_misused(&r->p->call, "there is no such input");
	if (status == PCTL_OK)
		status = give_port(r, r->names[i], pctl_resident_input_type(r->resident, i), out);
	return pipectl_end(r->p, status);
}

pctl_status pipectl_resident_output(pipectl_resident *r, uint32_t i, pipectl_resident_port *out)
{
	pctl_status status = pipectl_begin(r->p, NULL, NULL);

	if (status == PCTL_OK && i >= r->n_reads)
		status = pipectl_misused(&r->p->call, "there is no such output");
	if (status == PCTL_OK)
		status = give_port(r, r->names[r->n_changing + i],
				   pctl_resident_output_type(r->resident, i), out);
	return pipectl_end(r->p, status);
}

/* ---- steps -------------------------------------------------------------------------------- */

static pctl_status give_step(pipectl_resident *r, const pctl_resident_stats *s, pipectl_step *out)
{
	pipectl_step step = {.head = PCTL_HEAD(pipectl_step),
			     .number = s->step,
			     .submits = s->submits,
			     .verified = s->verified};

	if (r->telemetry) {
		step.host_ns = s->host_ns;
		step.write_ns = s->write_ns;
		step.submit_ns = s->submit_ns;
		step.wait_ns = s->wait_ns;
		step.read_ns = s->read_ns;
		step.device_ns = s->device_ns;
	}
	return PIPECTL_GIVE(&r->p->call, out, &step);
}

pctl_status pipectl_resident_step(pipectl_resident *r, const void *const *in,
				  const uint64_t *in_bytes, void *const *out,
				  const uint64_t *out_bytes, pipectl_step *step,
				  char (*cids)[PIPECTL_CID_SIZE])
{
	pctl_resident_stats stats;
	pctl_status status = pipectl_begin(r->p, NULL, "run");

	if (status == PCTL_OK && ((r->n_changing != 0 && (in == NULL || in_bytes == NULL)) ||
				  (r->n_reads != 0 && (out == NULL || out_bytes == NULL))))
		status = pipectl_misused(&r->p->call, "a step has no data, or no room for it");
	if (status != PCTL_OK)
		return pipectl_end(r->p, status);
	for (uint32_t i = 0; i < r->n_changing; i++)
		r->in[i] = (pctl_resident_input){in[i], in_bytes[i]};
	for (uint32_t i = 0; i < r->n_reads; i++)
		r->out[i] = (pctl_resident_output){out[i], out_bytes[i]};
	status = pctl_resident_step(r->resident, r->in, r->out, &r->p->call, &stats,
				    cids == NULL ? NULL : r->cids);
	for (uint32_t i = 0; status == PCTL_OK && cids != NULL && i < r->n_reads; i++)
		pctl_cid_format(&r->cids[i], cids[i]);
	if (status == PCTL_OK && step != NULL)
		status = give_step(r, &stats, step);
	return pipectl_end(r->p, status);
}

pctl_status pipectl_resident_check(pipectl_resident *r, uint64_t steps)
{
	pctl_status status = pipectl_begin(r->p, NULL, "run");

	if (status == PCTL_OK)
		status = pctl_resident_check(r->resident, steps, &r->p->call);
	return pipectl_end(r->p, status);
}

const char *pipectl_resident_evidence(pipectl_resident *r, uint64_t step)
{
	return evidence_text(r, pctl_resident_evidence(r->resident, step));
}
