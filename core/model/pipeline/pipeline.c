/* The text of a pipeline: what it takes and gives, and its layers as groups or one by one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/conf/format.h"
#include "model/pipeline/private.h"

/* Layers of one kind: from `first` on, every `step`-th, n of them; a group's turn has `step` layers, of which this is number `at`. */
typedef struct span {
	uint64_t first, n, step;
} span;

static pctl_status check_plan(const pctl_model *m, const pctl_model_plan *p, const char *path,
			      const pctl_call *call)
{
	const uint64_t most = pctl_model_shape_of(m)->n_context;

	if (p->batch == 0 || p->batch > 1024)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a batch of %" PRIu64 " is none of 1 to 1024", path,
				   p->batch);
	if (p->context == 0 || p->context > most)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a context of %" PRIu64 " is none of 1 to %" PRIu64
				   ", the model's",
				   path, p->context, most);
	if (pctl_model_layout_of(m) == PCTL_MODEL_LAYOUT_SAFETENSORS &&
	    pctl_model_shape_of(m)->n_experts > PCTL_PORTS_MAX * PCTL_PORTS_MAX)
		return pctl_refuse_at(call, PC6290_MODEL_PLAN, NULL,
				      "`pipectl model convert` makes one tensor of them in GGUF",
				      "%s: more than %u experts that are tensors of their own",
				      path, PCTL_PORTS_MAX * PCTL_PORTS_MAX);
	if (p->chunk == 0 || p->chunk > p->context)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a chunk of %" PRIu64 " is none of 1 to %" PRIu64
				   ", the context",
				   path, p->chunk, p->context);
	if (p->page != 0 && (p->context % p->page != 0 || p->n_pages == 0))
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: a context of %" PRIu64
				   " is no whole number of pages of %" PRIu64 ", or there are none",
				   path, p->context, p->page);
	if (p->all_logits && p->gives > PCTL_MODEL_GIVES_LOGITS)
		return pctl_refuse(call, PC6290_MODEL_PLAN,
				   "%s: tokens and embeddings are of the last token of a chunk",
				   path);
	return PCTL_OK;
}

static pctl_status check_path(const char *path, const pctl_call *call)
{
	return strpbrk(path, "\"\\\n") == NULL
		       ? PCTL_OK
		       : pctl_refuse(call, PC6290_MODEL_PLAN,
				     "%s: a path with quotes has no place in a pipeline", path);
}

static void cache_type(const model_text *w, char out[128])
{
	const int paged = w->plan->page != 0;

	text_print(out, 128, "f32[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]",
		   paged ? w->plan->n_pages : w->plan->batch,
		   paged ? w->plan->page : w->plan->context, w->s->n_kv_heads, w->s->head_dim);
}

/* ---- layers as groups ---- */

/* Spans between which the kind of layers changes: where windows begin, and where experts do. Windows of every other layer begin at the first
 * layer, in families without layers in front. */
static uint32_t spans_of(const pctl_model_shape *s, span out[4])
{
	const uint64_t window =
		s->window != 0 && s->window_first < s->n_layers ? s->window_first : 0;
	const uint64_t first = window > s->n_dense ? window : s->n_dense,
		       before = window > s->n_dense ? s->n_dense : window;
	const uint64_t step = s->window != 0 ? s->window_every : 1;
	const uint64_t turns = (s->n_layers - first) / step;
	uint32_t n = 0;

	if (before != 0)
		out[n++] = (span){0, before, 1};
	if (first != before)
		out[n++] = (span){before, first - before, 1};
	if (turns != 0)
		out[n++] = (span){first, turns * step, step};
	if (first + turns * step != s->n_layers)
		out[n++] = (span){first + turns * step, s->n_layers - first - turns * step, 1};
	return n;
}

/* 1: all layers of turn t of a group are added to as those of the turn before. */
static int goes_on(const model_text *w, const span *g, uint64_t t)
{
	for (uint64_t k = 0; k < g->step; k++)
		if (!text_adapted_alike(w, g->first + t * g->step + k,
					g->first + (t - 1) * g->step + k))
			return 0;
	return 1;
}

/* The same spans, cut where what adapters add changes: at most a span a layer. */
static uint32_t cut_spans(const model_text *w, const span *all, uint32_t n, span *out)
{
	uint32_t n_out = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = 0;

		for (uint64_t t = 1; t * all[i].step <= all[i].n; t++) {
			if (t * all[i].step < all[i].n && goes_on(w, &all[i], t))
				continue;
			out[n_out++] = (span){all[i].first + from * all[i].step,
					      (t - from) * all[i].step, all[i].step};
			from = t;
		}
	}
	return n_out;
}

/* How a group writes the number of layer `at` of its turn. */
static void layer_text(const span *g, uint64_t at, char out[32])
{
	char times[24] = "i", plus[24] = "";

	if (g->step != 1)
		text_print(times, sizeof(times), "%" PRIu64 "*i", g->step);
	if (g->first + at != 0)
		text_print(plus, sizeof(plus), "+%" PRIu64, g->first + at);
	text_print(out, 32, "{%s%s}", times, plus);
}

static void group(model_text *w, uint32_t number, const span *g, pctl_str_buf *state, const char *x,
		  char out[REF_SIZE])
{
	pctl_str_buf outer = w->jobs;
	char id[16] = "layers", type[128], at[REF_SIZE] = "@x", next[REF_SIZE];

	if (number != 0)
		text_print(id, sizeof(id), "layers_%" PRIu32, number);
	cache_type(w, type);
	w->jobs = (pctl_str_buf)PCTL_STR_BUF_INIT;
	for (uint64_t k = 0; k < g->step; k++) {
		char part[32] = "";

		/* Ids of one turn differ: the layers of a turn have their number in front. */
		if (number != 0 || g->step != 1)
			text_print(part, sizeof(part), "_%" PRIu32 "_%" PRIu64, number, k);
		w->prefix[0] = '\0';
		if (g->step != 1)
			text_print(w->prefix, sizeof(w->prefix), "at%" PRIu64 "_", k);
		layer_text(g, k, w->layer);
		w->number = (uint32_t)(g->first + k);
		for (uint32_t v = 0; v < 2; v++) {
			const char *word = v ? "values" : "keys";

			text_print(v ? w->values : w->keys, sizeof(w->keys), "%s%s/{i}", word,
				   part);
			pctl_str_addf(state,
				      "%s%s : { type = \"%s\"; count = %" PRIu64
				      "; index = \"i\"; next = \"%s.{i}.%swrite_%c.y\"; };\n",
				      word, part, type, g->n / g->step, id, w->prefix,
				      v ? 'v' : 'k');
		}
		text_layer(w, at, next);
		memcpy(at, next, sizeof(at));
	}
	pctl_str_addf(&outer,
		      "{ id = \"%s\"; repeat : { count = %" PRIu64
		      "; index = \"i\"; start : { x = \"%s\"; }; carry : { x = \"%s\"; }; };\n"
		      "jobs = (\n%.*s\n); },\n",
		      id, g->n / g->step, x, at, (int)(w->jobs.n > 2 ? w->jobs.n - 2 : 0),
		      w->jobs.data == NULL ? "" : w->jobs.data);
	outer.failed |= w->jobs.failed;
	pctl_str_drop(&w->jobs);
	w->jobs = outer;
	w->prefix[0] = '\0';
	text_print(out, REF_SIZE, "%s.x", id);
}

/* Tensors of a file by their own names; of a sharded one by its index. */
static void weights(const model_text *w, pctl_str_buf *inputs)
{
	pctl_str_addf(inputs, "weights : { tensors = \"%s\"; };\n", pctl_model_path(w->m));
}

/* ---- layers one by one ---- */

static void each_layer(model_text *w, pctl_str_buf *inputs, pctl_str_buf *outputs,
		       char at[REF_SIZE])
{
	char type[128], next[REF_SIZE];

	cache_type(w, type);
	for (uint32_t i = 0; i < w->s->n_layers; i++) {
		w->number = i;
		text_print(w->prefix, sizeof(w->prefix), "l%" PRIu32 "_", i);
		text_print(w->layer, sizeof(w->layer), "%" PRIu32, i);
		text_print(w->keys, sizeof(w->keys), "keys_%" PRIu32, i);
		text_print(w->values, sizeof(w->values), "values_%" PRIu32, i);
		pctl_str_addf(inputs, "%s : { type = \"%s\"; };\n%s : { type = \"%s\"; };\n",
			      w->keys, type, w->values, type);
		pctl_str_addf(outputs, "%s = \"%swrite_k.y\";\n%s = \"%swrite_v.y\";\n", w->keys,
			      w->prefix, w->values, w->prefix);
		text_layer(w, at, next);
		memcpy(at, next, REF_SIZE);
	}
}

static void each_tensor(const model_text *w, pctl_str_buf *inputs)
{
	const pctl_model_tensor *t;
	char name[REF_SIZE];
	const char *path;

	for (uint64_t i = 0; (t = pctl_model_tensor_at(w->m, i)) != NULL; i++) {
		/* What is in words in the pipeline. */
		if (pctl_model_role_is_said(t->role))
			continue;
		(void)pctl_model_tensor_file(w->m, t->file, &path);
		text_input_name(t->name, name);
		pctl_str_addf(inputs, "%s : { type = \"%s", name,
			      pctl_dtype_of(t->type.dtype)->name);
		for (uint32_t k = 0; k < t->type.rank; k++)
			pctl_str_addf(inputs, "%s%" PRIu64, k ? "," : "[", t->type.dim[k]);
		pctl_str_addf(inputs, "]\"; file = \"%s:%s\"; };\n", path, t->name);
	}
}

/* ---- all of it ---- */

static void assemble(const model_text *w, const pctl_str_buf *inputs, const pctl_str_buf *state,
		     const pctl_str_buf *outputs, pctl_str_buf *out)
{
	const pctl_model_plan *p = w->plan;

	pctl_str_addf(
		out,
		"# A %s model of %" PRIu64 " layers: %" PRIu64 " sequences, %" PRIu64
		" tokens of each at a time, %" PRIu64 " positions.\n"
		"pipeline : {\nname = \"%s\";\nclass = \"strict\";\ninputs : {\n"
		"tokens : { type = \"u32[%" PRIu64 ",%" PRIu64 "]\"; };\n"
		"start : { type = \"u32[%" PRIu64 "]\"; }; # the position of each first token\n"
		"count : { type = \"u32[%" PRIu64 "]\"; }; # how many tokens are real\n%s};\n",
		pctl_model_family_name(w->s->family), w->s->n_layers, p->batch, p->chunk,
		p->context, pctl_model_family_name(w->s->family), p->batch, p->chunk, p->batch,
		p->batch, inputs->data);
	if (state->n != 0)
		pctl_str_addf(out, "state : {\n%s};\n", state->data);
	pctl_str_addf(out, "jobs = (\n%.*s\n);\noutputs : {\n%s};\n};\n", (int)(w->jobs.n - 2),
		      w->jobs.data, outputs->data);
}

static pctl_status write_text(model_text *w, const pctl_call *call, char **out)
{
	pctl_str_buf inputs = PCTL_STR_BUF_INIT, state = PCTL_STR_BUF_INIT,
		     outputs = PCTL_STR_BUF_INIT, all = PCTL_STR_BUF_INIT;
	pctl_status status = PCTL_OK;
	char at[REF_SIZE], next[REF_SIZE];
	span spans[4], *cut = NULL;
	size_t n;

	cut = calloc(w->s->n_layers, sizeof(*cut));
	if (cut == NULL)
		return pctl_no_memory(call, "a pipeline");
	text_choice_inputs(w, &inputs);
	text_begin(w, at);
	if (w->plan->unrolled) {
		each_tensor(w, &inputs);
		each_layer(w, &inputs, &outputs, at);
	} else {
		const uint32_t n_spans = cut_spans(w, spans, spans_of(w->s, spans), cut);

		weights(w, &inputs);
		for (uint32_t i = 0; i < n_spans; i++) {
			group(w, i, &cut[i], &state, at, next);
			memcpy(at, next, sizeof(at));
		}
	}
	free(cut);
	text_adapter_inputs(w, &inputs);
	w->layer[0] = '\0';
	text_end(w, at, &outputs);
	if (w->jobs.failed || inputs.failed || state.failed || outputs.failed)
		status = pctl_no_memory(call, "a pipeline");
	if (status == PCTL_OK) {
		assemble(w, &inputs, &state, &outputs, &all);
		status = all.failed ? pctl_no_memory(call, "a pipeline")
				    : pctl_conf_format("pipeline", all.data, all.n, call, out, &n);
	}
	pctl_str_drop(&inputs);
	pctl_str_drop(&state);
	pctl_str_drop(&outputs);
	pctl_str_drop(&all);
	return status;
}

pctl_status pctl_model_pipeline(const pctl_model *m, const pctl_model_plan *plan,
				const pctl_call *call, char **out)
{
	model_text w = {.m = m, .s = pctl_model_shape_of(m), .plan = plan};
	const char *path;
	pctl_status status = check_plan(m, plan, pctl_model_path(m), call);

	*out = NULL;
	if (status == PCTL_OK)
		status = check_path(pctl_model_path(m), call);
	for (uint32_t i = 0; status == PCTL_OK && i < plan->n_adapters; i++) {
		(void)pctl_adapter_file(plan->adapters[i].adapter, &path);
		status = check_path(path, call);
	}
	if (status == PCTL_OK)
		status = write_text(&w, call, out);
	pctl_str_drop(&w.jobs);
	return status;
}
