/* Implementation of device_tune.h. */
#include "host/device_tune.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "host/load.h"
#include "host/tune.h"
#include "runtime/exec/resident.h"

#define USUAL_ROUNDS 7u
/* A value is kept for less than this part of the time alone: what differs by less is noise, and a problem is one of many sizes that the
 * value will serve. */
#define WORTH_OF_100 90u

/* One problem under way: its pipeline, its data (of inputs, in the pipeline's order), and the first resident, whose session all others
 * share. */
typedef struct trying {
	pctl_installation *in;
	const pctl_device_tune_options *o;
	const pctl_call *call;
	const char *scratch;
	pctl_loaded_pipeline loaded;
	pctl_input_bytes *given;
	pctl_resident *first;
	void *result;
	uint64_t result_bytes;
	uint32_t value[PCTL_N_TUNABLES], rounds;
	pctl_cid right;
	uint32_t has_right;
} trying;

/* ---- data --------------------------------------------------------------------------------- */

/* Numbers from -1 to 1 with all bits of their fractions in use; of u32 zeros, but for what counts tokens. */
static pctl_status make_data(const pctl_pipe_input *in, pctl_input_bytes *out,
			     const pctl_call *call)
{
	pctl_tensor_type t = {.dtype = in->type.dtype[0], .rank = in->type.rank};
	uint64_t n = 0, x = 0x9e3779b97f4a7c15ull;
	uint32_t *words;

	/* What is named alone is empty. */
	for (uint32_t k = 0; k < t.rank; k++)
		t.dim[k] = in->type.dim[k].value;
	(void)pctl_type_bytes(&t, &n);
	words = calloc(1, n + 4);
	if (words == NULL)
		return pctl_no_memory(call, "a problem");
	for (uint64_t i = 0; t.dtype == PCTL_SCALAR_F32 && i < n / 4; i++) {
		float f;

		x = x * 6364136223846793005ull + 1442695040888963407ull;
		f = (float)((double)(int32_t)(x >> 32) * 0x1p-31);
		memcpy(&words[i], &f, 4);
	}
	if (strcmp(in->name, "count") == 0)
		words[0] = 1;
	*out = (pctl_input_bytes){.name = in->name, .data = words, .n_bytes = n, .type = t};
	return PCTL_OK;
}

static pctl_status load(trying *x, const char *text)
{
	char path[4200];
	const pctl_pipeline *p;
	pctl_status status;

	snprintf(path, sizeof(path), "%s/tune.pipe.cfg", x->scratch);
	status = pctl_file_write(path, text, strlen(text), 0, x->call);
	if (status == PCTL_OK)
		status = pctl_load_pipeline(x->in, path, NULL, 0, x->call, &x->loaded);
	if (status != PCTL_OK)
		return status;
	p = x->loaded.pipeline;
	x->given = calloc(p->n_inputs + 1u, sizeof(*x->given));
	if (x->given == NULL)
		return pctl_no_memory(x->call, "a problem");
	for (uint32_t i = 0; status == PCTL_OK && i < p->n_inputs; i++)
		status = make_data(&p->inputs[i], &x->given[i], x->call);
	return status;
}

static void unload(trying *x)
{
	const uint32_t n = x->loaded.pipeline == NULL ? 0 : x->loaded.pipeline->n_inputs;

	pctl_resident_close(x->first);
	for (uint32_t i = 0; x->given != NULL && i < n; i++)
		free((void *)(uintptr_t)x->given[i].data);
	free(x->given);
	free(x->result);
	pctl_loaded_pipeline_close(&x->loaded);
	memset(&x->loaded, 0, sizeof(x->loaded));
	x->first = NULL;
	x->given = NULL;
	x->result = NULL;
	x->has_right = 0;
}

/* ---- one value ---------------------------------------------------------------------------- */

static pctl_status open_one(trying *x, pctl_resident **out)
{
	const pctl_pipeline *p = x->loaded.pipeline;
	const char *changing[1] = {p->inputs[0].name}, *reads[1] = {p->outputs[0].port};
	const pctl_resident_options how = {.changing = changing,
					   .reads = reads,
					   .n_changing = 1,
					   .n_reads = 1,
					   .sharing = x->first};
	const pctl_run_request q = {.backends = &x->o->selector,
				    .n_backends = 1,
				    .given = x->given,
				    .n_given = x->first == NULL ? p->n_inputs : 1,
				    .flags = x->o->flags | PCTL_RUN_NO_FUSE};
	pctl_run_options o;
	pctl_status status = pctl_request_run_options(x->in, &q, x->call, &o);

	if (status != PCTL_OK)
		return status;
	o.tunable = x->value;
	status = pctl_resident_open(x->loaded.graph, &o, &how, x->call, out);
	if (status == PCTL_OK && x->result == NULL) {
		(void)pctl_type_bytes(pctl_resident_output_type(*out, 0), &x->result_bytes);
		x->result = malloc(x->result_bytes + 4);
		if (x->result == NULL)
			status = pctl_no_memory(x->call, "a problem");
	}
	return status;
}

static pctl_status compare(trying *x, uint32_t tunable, uint32_t value, const pctl_cid *cid)
{
	char a[PCTL_CID_TEXT_SIZE], b[PCTL_CID_TEXT_SIZE];

	if (!x->has_right) {
		x->right = *cid;
		x->has_right = 1;
	}
	if (pctl_cid_compare(&x->right, cid) == 0)
		return PCTL_OK;
	return pctl_refuse(x->call, PC4334_TUNING_BITS,
			   "%s: with %s = %" PRIu32 " the result is %s, it was %s", x->o->selector,
			   pctl_tunable_name(tunable), value, pctl_cid_format(cid, a),
			   pctl_cid_format(&x->right, b));
}

static pctl_status step(trying *x, uint32_t tunable, uint32_t value, pctl_resident *r,
			pctl_round_time *time)
{
	const pctl_resident_input in = {x->given[0].data, x->given[0].n_bytes};
	const pctl_resident_output to = {x->result, x->result_bytes};
	pctl_resident_stats stats = {0};
	pctl_cid cid;
	pctl_status status = pctl_resident_step(r, &in, &to, x->call, &stats, &cid);

	*time = (pctl_round_time){.end_ns = stats.device_ns,
				  .host_ns = stats.submit_ns + stats.wait_ns,
				  .has_device = stats.device_ns != 0};
	return status == PCTL_OK ? compare(x, tunable, value, &cid) : status;
}

/* ---- one tunable -------------------------------------------------------------------------- */

static void add_value(pctl_device_tuned *t, uint32_t value)
{
	for (uint32_t i = 0; i < t->n; i++)
		if (t->values[i] == value)
			return;
	if (t->n < PCTL_DEVICE_TUNE_TRIES)
		t->values[t->n++] = value;
}

static pctl_status open_all(trying *x, uint32_t tunable, pctl_device_tuned *t, pctl_resident **all)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < t->n; i++) {
		x->value[tunable] = t->values[i];
		status = open_one(x, &all[i]);
		if (x->first == NULL)
			x->first = all[i];
		if (status == PCTL_OK)
			status = pctl_resident_plan_cid(all[i], x->call, &t->plan[i]);
		while (t->same[i] < i && pctl_cid_compare(&t->plan[t->same[i]], &t->plan[i]) != 0)
			t->same[i]++;
	}
	return status;
}

/* Round by round, so that what else the machine does in a round meets all of them; the first warms up. */
static pctl_status time_all(trying *x, uint32_t tunable, pctl_device_tuned *t,
			    pctl_resident *const *all)
{
	const uint32_t n = 1u + x->rounds;
	pctl_round_time *times = calloc((size_t)n * PCTL_DEVICE_TUNE_TRIES, sizeof(*times));
	pctl_status status = times == NULL ? pctl_no_memory(x->call, "times") : PCTL_OK;

	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; status == PCTL_OK && i < t->n; i++)
			if (t->same[i] == i)
				status = step(x, tunable, t->values[i], all[i], &times[i * n + k]);
	for (uint32_t i = 0; status == PCTL_OK && i < t->n; i++) {
		pctl_tune_time time;

		pctl_tune_judge(&times[t->same[i] * n], n, &time);
		t->ns[i] = time.median_ns;
		t->is_device &= time.is_device;
	}
	free(times);
	return status;
}

static pctl_status try_all(trying *x, uint32_t tunable, pctl_device_tuned *t)
{
	uint32_t n;
	const uint32_t *values = pctl_tunable_values(tunable, &n);
	pctl_resident *all[PCTL_DEVICE_TUNE_TRIES] = {NULL};
	pctl_status status;

	*t = (pctl_device_tuned){.is_device = 1};
	add_value(t, x->value[tunable]);
	add_value(t, 0);
	for (uint32_t i = 0; i < n; i++)
		add_value(t, values[i]);
	status = open_all(x, tunable, t, all);
	if (status == PCTL_OK)
		status = time_all(x, tunable, t, all);
	for (uint32_t i = 0; i < t->n; i++)
		if (all[i] != x->first)
			pctl_resident_close(all[i]);
	if (status != PCTL_OK)
		return status;
	for (uint32_t i = 1; i < t->n; i++)
		if (t->ns[i] < t->ns[t->best] && t->ns[i] / WORTH_OF_100 * 100 < t->ns[0])
			t->best = i;
	x->value[tunable] = t->values[t->best];
	return status;
}

static int is_discrete(const trying *x)
{
	return pctl_resident_device_kind(x->first) == PCTL_DEVICE_DISCRETE;
}

/* The small form says what kind of a device it is. */
static pctl_status try_problem(trying *x, const pctl_device_problem *p, uint32_t *large,
			       pctl_device_tuned *t)
{
	pctl_status status = load(x, *large && p->large != NULL ? p->large : p->text);

	if (status == PCTL_OK)
		status = try_all(x, p->tunable, t);
	if (status == PCTL_OK && !*large && p->large != NULL && is_discrete(x)) {
		*large = 1;
		x->value[p->tunable] = t->values[0];
		unload(x);
		return try_problem(x, p, large, t);
	}
	return status;
}

static pctl_status begin(trying *x, pctl_tuning_record *made)
{
	pctl_status status = load(x, x->o->problems[0].text);
	const pctl_device_caps *caps;

	/* The profile is the device's, and it is open only here. */
	if (status == PCTL_OK)
		status = open_one(x, &x->first);
	if (status != PCTL_OK)
		return status;
	caps = pctl_resident_caps(x->first);
	made->profile = pctl_tuning_profile(caps);
	for (uint32_t i = 0; i < PCTL_N_TUNABLES; i++)
		x->value[i] = pctl_tunable_of(i, made->profile);
	unload(x);
	return PCTL_OK;
}

pctl_status pctl_device_tune(pctl_installation *in, const pctl_device_tune_options *o,
			     const pctl_call *call, pctl_device_tuned out[PCTL_N_TUNABLES],
			     pctl_tuning_record *made)
{
	const uint64_t began = pctl_clock_ns();
	trying x = {.in = in,
		    .o = o,
		    .call = call,
		    .rounds = o->rounds == 0 ? USUAL_ROUNDS : o->rounds};
	uint32_t large = 0;
	pctl_status status = pctl_scratch_make(in, call, &x.scratch);

	memset(out, 0, PCTL_N_TUNABLES * sizeof(*out));
	memset(made, 0, sizeof(*made));
	if (status == PCTL_OK)
		status = begin(&x, made);
	for (uint32_t i = 0; status == PCTL_OK && i < o->n_problems; i++) {
		const pctl_device_problem *p = &o->problems[i];

		status = try_problem(&x, p, &large, &out[p->tunable]);
		made->ms = (pctl_clock_ns() - began) / 1000000u;
		memcpy(made->value, x.value, sizeof(x.value));
		if (status == PCTL_OK && o->keep && i + 1 == o->n_problems)
			status = pctl_resident_keep_tuning(x.first, made, call);
		unload(&x);
	}
	unload(&x);
	pctl_scratch_drop(x.scratch);
	return status;
}
