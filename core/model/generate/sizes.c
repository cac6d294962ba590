/* Sizes of work: the pipeline of each, kept on the device; weights and caches are shared by all. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/clock.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "model/generate/private.h"

static const struct {
	const char *name;
	uint32_t gives; /* 0: always */
} inputs[ENGINE_INPUTS] = {[IN_TOKENS] = {"tokens", 0},
			   [IN_START] = {"start", 0},
			   [IN_COUNT] = {"count", 0},
			   [IN_PAGES] = {"pages", 0},
			   [IN_TEMPERATURE] = {"temperature", PCTL_MODEL_GIVES_TOKEN},
			   [IN_TOP_K] = {"top_k", PCTL_MODEL_GIVES_TOKEN},
			   [IN_TOP_P] = {"top_p", PCTL_MODEL_GIVES_TOKEN},
			   [IN_MIN_P] = {"min_p", PCTL_MODEL_GIVES_TOKEN},
			   [IN_KEY] = {"key", PCTL_MODEL_GIVES_TOKEN},
			   [IN_POSITION] = {"position", PCTL_MODEL_GIVES_TOKEN},
			   [IN_SEEN] = {"seen", PCTL_MODEL_GIVES_PENALTIES},
			   [IN_REPETITION] = {"repetition", PCTL_MODEL_GIVES_PENALTIES},
			   [IN_PRESENCE] = {"presence", PCTL_MODEL_GIVES_PENALTIES},
			   [IN_FREQUENCY] = {"frequency", PCTL_MODEL_GIVES_PENALTIES},
			   [IN_HISTORY] = {"history", PCTL_MODEL_GIVES_PENALTIES}},
  outputs[ENGINE_OUTPUTS] = {[OUT_LOGITS] = {"logits", PCTL_MODEL_GIVES_LOGITS},
			     [OUT_TOKEN] = {"token", PCTL_MODEL_GIVES_TOKEN},
			     [OUT_LOGPROB] = {"logprob", PCTL_MODEL_GIVES_LOGPROBS},
			     [OUT_TOP] = {"top", PCTL_MODEL_GIVES_LOGPROBS},
			     [OUT_TOP_LOGPROB] = {"top_logprob", PCTL_MODEL_GIVES_LOGPROBS},
			     [OUT_EMBEDDING] = {"embedding", PCTL_MODEL_GIVES_EMBEDDING}};

/* The draw's parameters fall away where the greatest is taken. */
static int has_input(const engine_size *z, uint32_t i)
{
	if (inputs[i].gives == PCTL_MODEL_GIVES_TOKEN && (z->gives & PCTL_MODEL_GIVES_GREEDY))
		return 0;
	return inputs[i].gives == 0 || (z->gives & inputs[i].gives) != 0;
}

const char *engine_input_name(uint32_t input)
{
	return inputs[input].name;
}

static uint64_t largest_page(const pctl_model_engine *e)
{
	return (uint64_t)e->slot_pages * PCTL_ENGINE_PAGE;
}

static pctl_status load(pctl_model_engine *e, engine_size *z, const pctl_call *call)
{
	const pctl_model_plan plan = {.batch = z->batch,
				      .chunk = z->chunk,
				      .context = largest_page(e),
				      .page = PCTL_ENGINE_PAGE,
				      .n_pages = e->n_pages,
				      .gives = z->gives,
				      .adapters = e->loras.all.uses,
				      .n_adapters = e->loras.all.n,
				      .set = z->adapter};
	const char *path = pctl_arena_printf(z->arena, "%s/model-%u-%u-%u-%u.pipe.cfg", e->scratch,
					     z->batch, z->chunk, z->gives, z->adapter);
	char *text = NULL;
	pctl_status status = pctl_model_pipeline(e->model, &plan, call, &text);

	if (status == PCTL_OK && path == NULL)
		status = pctl_no_memory(call, "a path");
	if (status == PCTL_OK)
		status = pctl_file_write(path, text, strlen(text), 0, call);
	if (status == PCTL_OK)
		status = pctl_load_pipeline(e->in, path, NULL, 0, call, &z->loaded);
	free(text);
	return status;
}

static const pctl_pipe_input *input_of(const pctl_pipeline *p, const char *name)
{
	for (uint32_t i = 0; i < p->n_inputs; i++)
		if (strcmp(p->inputs[i].name, name) == 0)
			return &p->inputs[i];
	return NULL;
}

/* Bytes for each input and output, which the residents read and write. */
static pctl_status make_room(engine_size *z, const pctl_call *call)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < ENGINE_INPUTS; i++) {
		if (!has_input(z, i))
			continue;
		(void)pctl_type_bytes(pctl_resident_input_type(z->resident, n++), &z->in_bytes[i]);
		z->in[i] = pctl_arena_alloc(z->arena, z->in_bytes[i]);
	}
	n = 0;
	for (uint32_t i = 0; i < ENGINE_OUTPUTS; i++) {
		if (!(z->gives & outputs[i].gives))
			continue;
		(void)pctl_type_bytes(pctl_resident_output_type(z->resident, n++),
				      &z->out_bytes[i]);
		z->out[i] = pctl_arena_alloc(z->arena, z->out_bytes[i]);
	}
	return pctl_arena_failed(z->arena) ? pctl_no_memory(call, "a step's data") : PCTL_OK;
}

/* What is declared with numbers alone says how large it is. */
static const char *zeros(pctl_arena *arena, const pctl_pipe_input *in)
{
	uint64_t n = pctl_dtype_bytes(in->type.dtype[0]);

	for (uint32_t k = 0; k < in->type.rank; k++)
		n *= in->type.dim[k].value;
	return pctl_arena_printf(arena, "zero:%" PRIu64, n);
}

static const pctl_cid *cid_of(void *engine, const char *input)
{
	return pctl_map_get(((pctl_model_engine *)engine)->cids, input);
}

static pctl_status open_resident(pctl_model_engine *e, engine_size *z, const pctl_call *call)
{
	const pctl_pipeline *p = z->loaded.pipeline;
	const char *changing[ENGINE_INPUTS], *reads[ENGINE_OUTPUTS];
	pctl_setting ins[ENGINE_INPUTS];
	pctl_resident_options how = {.changing = changing, .reads = reads};
	pctl_run_request q = e->request;
	pctl_run_options o;
	pctl_status status;

	for (uint32_t i = 0; i < ENGINE_INPUTS; i++) {
		const pctl_pipe_input *in;

		if (!has_input(z, i))
			continue;
		in = input_of(p, inputs[i].name);
		if (in == NULL)
			return pctl_refuse(call, PC1_INTERNAL, "a model's pipeline without %s",
					   inputs[i].name);
		ins[how.n_changing] = (pctl_setting){in->name, zeros(z->arena, in)};
		changing[how.n_changing++] = in->name;
	}
	for (uint32_t i = 0; i < ENGINE_OUTPUTS; i++)
		if (z->gives & outputs[i].gives)
			reads[how.n_reads++] = outputs[i].name;
	how.memory_bytes = e->request.memory_bytes;
	how.sharing = e->n_sizes == 0 ? NULL : e->sizes[0].resident;
	q.ins = ins;
	q.n_ins = how.n_changing;
	q.given = NULL;
	q.n_given = 0;
	status = pctl_request_run_options(e->in, &q, call, &o);
	o.cid_of = cid_of;
	o.cid_ctx = e;
	if (status == PCTL_OK)
		status = pctl_resident_open(z->loaded.graph, &o, &how, call, &z->resident);
	return status == PCTL_OK ? make_room(z, call) : status;
}

static void close_size(engine_size *z)
{
	pctl_loaded_pipeline_close(&z->loaded);
	pctl_arena_destroy(z->arena);
	memset(z, 0, sizeof(*z));
}

static engine_size *find(const pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
			 uint32_t adapter)
{
	for (uint32_t i = 0; i < e->n_sizes; i++)
		if (e->sizes[i].batch == batch && e->sizes[i].chunk == chunk &&
		    e->sizes[i].gives == gives && e->sizes[i].adapter == adapter)
			return &e->sizes[i];
	return NULL;
}

int engine_has_size(const pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
		    uint32_t adapter)
{
	return find(e, batch, chunk, gives, adapter) != NULL;
}

pctl_status engine_size_of(pctl_model_engine *e, uint32_t batch, uint32_t chunk, uint32_t gives,
			   uint32_t adapter, const pctl_call *call, engine_size **out)
{
	const uint64_t began = pctl_clock_ns();
	engine_size *z;
	pctl_status status;

	*out = find(e, batch, chunk, gives, adapter);
	if (*out != NULL)
		return PCTL_OK;
	if (e->n_sizes == ENGINE_SIZES * (1 + e->loras.n_sets))
		return pctl_refuse(call, PC1_INTERNAL,
				   "more sizes of work than there are kinds of rows");
	z = &e->sizes[e->n_sizes];
	*z = (engine_size){.batch = batch,
			   .chunk = chunk,
			   .gives = gives,
			   .adapter = adapter,
			   .arena = pctl_arena_create()};
	status = z->arena == NULL ? pctl_no_memory(call, "a size of work") : load(e, z, call);
	if (status == PCTL_OK)
		status = open_resident(e, z, call);
	if (status != PCTL_OK && z->resident == NULL) {
		close_size(z);
		return status;
	}
	if (status != PCTL_OK) {
		z->gives =
			UINT32_MAX; /* of use to nobody; it goes with those that it shares with */
		e->n_sizes++;
		return status;
	}
	e->n_sizes++;
	e->facts.build_ns += pctl_clock_ns() - began;
	*out = z;
	return PCTL_OK;
}

void engine_close_sizes(pctl_model_engine *e)
{
	/* Residents that share end together, and ask for their pipelines until then. */
	for (uint32_t i = e->n_sizes; i-- > 0;)
		pctl_resident_close(e->sizes[i].resident);
	while (e->n_sizes != 0)
		close_size(&e->sizes[--e->n_sizes]);
}
