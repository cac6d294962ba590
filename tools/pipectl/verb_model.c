/* Verbs over models that look: show, check. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model/generate/words.h"

static void rope(pctl_app *app, const pctl_model_shape *s)
{
	const pctl_model_rope *r = &s->rope;

	pctl_app_fact_word(app, "rope_pairing",
			   r->pairing == PCTL_MODEL_HALVES ? "halves" : "neighbours");
	if (app->json || r->dims != s->head_dim)
		pctl_app_fact_size(app, "rope_dims", r->dims);
	pctl_app_fact_number(app, "rope_base", r->base);
	pctl_app_fact_word(app, "rope_scaling", pctl_model_scaling_name(r->scaling));
	if (r->scaling == PCTL_MODEL_SCALING_NONE)
		return;
	if (r->scaling == PCTL_MODEL_SCALING_LONGROPE) {
		pctl_app_fact_size(app, "rope_original", r->n_original);
		pctl_app_fact_number(app, "rope_magnitude", r->magnitude);
		return;
	}
	pctl_app_fact_number(app, "rope_factor", r->factor);
	if (r->scaling == PCTL_MODEL_SCALING_LINEAR || r->scaling == PCTL_MODEL_SCALING_DYNAMIC)
		return;
	pctl_app_fact_number(app, "rope_low", r->low);
	pctl_app_fact_number(app, "rope_high", r->high);
	pctl_app_fact_size(app, "rope_original", r->n_original);
	if (r->scaling == PCTL_MODEL_SCALING_YARN)
		pctl_app_fact_number(app, "rope_magnitude", r->magnitude);
}

/* What is 0, or as everywhere, is left out of the text and stands in the document. */
static void description(pctl_app *app, const pctl_model_shape *s)
{
	pctl_app_fact_word(app, "family", pctl_model_family_name(s->family));
	pctl_app_fact_size(app, "n_layers", s->n_layers);
	pctl_app_fact_size(app, "n_embd", s->n_embd);
	pctl_app_fact_size(app, "n_heads", s->n_heads);
	pctl_app_fact_size(app, "n_kv_heads", s->n_kv_heads);
	pctl_app_fact_size(app, "head_dim", s->head_dim);
	pctl_app_fact_size(app, "n_ff", s->n_ff);
	pctl_app_fact_size(app, "n_vocab", s->n_vocab);
	pctl_app_fact_size(app, "n_context", s->n_context);
	pctl_app_fact_number(app, "rms_eps", s->rms_eps);
	rope(app, s);
	if (app->json || s->n_experts != 0) {
		pctl_app_fact_size(app, "n_experts", s->n_experts);
		pctl_app_fact_size(app, "n_used", s->n_used);
		pctl_app_fact_size(app, "n_ff_shared", s->n_ff_shared);
		pctl_app_fact_size(app, "n_dense", s->n_dense);
		pctl_app_fact_size(app, "n_ff_dense", s->n_ff_dense);
		pctl_app_fact_word(app, "norm_used", s->norm_used ? "yes" : "no");
	}
	if (app->json || s->window != 0) {
		pctl_app_fact_size(app, "window", s->window);
		pctl_app_fact_size(app, "window_first", s->window_first);
		pctl_app_fact_size(app, "window_every", s->window_every);
	}
	pctl_app_fact_number(app, "attn_scale", s->attn_scale);
	if (app->json || s->attn_softcap != 0)
		pctl_app_fact_number(app, "attn_softcap", s->attn_softcap);
	if (app->json || s->final_softcap != 0)
		pctl_app_fact_number(app, "final_softcap", s->final_softcap);
	if (app->json || s->embed_scale != 1)
		pctl_app_fact_number(app, "embed_scale", s->embed_scale);
	if (app->json || s->norm_offset != 0)
		pctl_app_fact_number(app, "norm_offset", s->norm_offset);
	pctl_app_fact_word(app, "activation", s->gelu ? "gelu by tanh" : "silu");
	pctl_app_fact_word(app, "embeddings", s->tied ? "tied" : "not tied");
	if (app->json || s->qkv_bias || s->o_bias)
		pctl_app_fact_word(app, "biases",
				   s->o_bias	 ? "q k v o"
				   : s->qkv_bias ? "q k v"
						 : "none");
}

static const char *type_text(pctl_app *app, const pctl_tensor_type *t)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *out;

	pctl_str_add(&s, pctl_dtype_of(t->dtype)->name);
	for (uint32_t i = 0; i < t->rank; i++)
		pctl_str_addf(&s, "%s%" PRIu64, i ? "," : "[", t->dim[i]);
	pctl_str_add(&s, "]");
	out = s.failed ? NULL : pctl_arena_dup_n(app->arena, s.data, s.n);
	pctl_str_drop(&s);
	return out == NULL ? "?" : out;
}

/* Parameters, and the bytes of each type of tensor. */
static void totals(pctl_app *app, const pctl_model *m)
{
	uint64_t n = 0, bytes = 0, elements, of_type, n_bytes;
	const pctl_model_tensor *t;
	const pctl_dtype *type;

	for (uint64_t i = 0; (t = pctl_model_tensor_at(m, i)) != NULL; i++) {
		(void)pctl_tensor_size(&t->type, &elements, &n_bytes);
		n += elements;
		bytes += n_bytes;
	}
	pctl_app_fact_size(app, "parameters", n);
	pctl_app_fact_size(app, "bytes", bytes);
	pctl_app_fact_size(app, "kv_bytes_token", pctl_model_kv_bytes(pctl_model_shape_of(m)));
	if (app->json) {
		pctl_json_key(&app->document, "bytes_by_type");
		pctl_json_object_begin(&app->document);
	}
	for (uint32_t k = 0; (type = pctl_dtype_row(k)) != NULL; k++) {
		of_type = 0;
		for (uint64_t i = 0; (t = pctl_model_tensor_at(m, i)) != NULL; i++)
			of_type += t->type.dtype == type->id ? t->n_bytes : 0;
		if (of_type != 0 && app->json)
			pctl_json_kv_u64(&app->document, type->name, of_type);
		else if (of_type != 0)
			printf("  of %-11s %" PRIu64 "\n", type->name, of_type);
	}
	if (app->json)
		pctl_json_object_end(&app->document);
}

/* cids: the last column, hashed now. */
static pctl_status tensors(pctl_app *app, const pctl_model *m, int cids)
{
	static const pctl_column columns[] = {{"tensor", "", 36},  {"role", " ", 14},
					      {"layer", " ", -5},  {"type", " ", 24},
					      {"bytes", " ", -12}, {"cid", " ", 0}};
	const pctl_model_tensor *t;
	pctl_status status = PCTL_OK;
	char text[PCTL_CID_TEXT_SIZE] = "";
	const char *path;
	pctl_cid cid;

	pctl_app_list_begin(app, "tensors", columns, cids ? 6 : 5);
	for (uint64_t i = 0; status == PCTL_OK && (t = pctl_model_tensor_at(m, i)) != NULL; i++) {
		if (cids)
			status = pctl_model_hash(m, t, app->call, &cid);
		if (status != PCTL_OK)
			break;
		if (cids)
			(void)pctl_cid_format(&cid, text);
		if (app->json) {
			(void)pctl_model_tensor_file(m, t->file, &path);
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, "name", t->name);
			pctl_json_kv_string(&app->document, "role", pctl_model_role_name(t->role));
			pctl_json_kv_u32(&app->document, "layer", t->layer);
			pctl_json_kv_u32(&app->document, "expert", t->expert);
			pctl_json_kv_string(&app->document, "type", type_text(app, &t->type));
			pctl_json_kv_u64(&app->document, "bytes", t->n_bytes);
			pctl_json_kv_string(&app->document, "file", path);
			if (cids)
				pctl_json_kv_string(&app->document, "cid", text);
			pctl_json_object_end(&app->document);
			continue;
		}
		pctl_table_cell(app->table, "%s", t->name);
		pctl_table_cell(app->table, "%s", pctl_model_role_name(t->role));
		pctl_table_cell(app->table, "%" PRIu32, t->layer);
		pctl_table_cell(app->table, "%s", type_text(app, &t->type));
		pctl_table_cell(app->table, "%" PRIu64, t->n_bytes);
		if (cids)
			pctl_table_cell(app->table, "%s", text);
	}
	return pctl_app_list_end(app, status);
}

pctl_status pctl_verb_model_show(pctl_app *app)
{
	pctl_model *m;
	pctl_status status;

	if (pctl_adapter_is(app->line.arguments[0]))
		return pctl_app_adapter_show(app, app->line.arguments[0]);
	status = pctl_model_open(app->line.arguments[0], app->call, &m);
	if (status != PCTL_OK)
		return status;
	if (app->json) {
		pctl_json_key(&app->document, "model");
		pctl_json_object_begin(&app->document);
	} else {
		printf("%s\n", app->line.arguments[0]);
	}
	description(app, pctl_model_shape_of(m));
	totals(app, m);
	if (app->json)
		pctl_json_object_end(&app->document);
	else
		printf("\n");
	status = tensors(app, m, 0);
	pctl_model_close(m);
	return status;
}

static pctl_status check_model(pctl_app *app, const char *path)
{
	pctl_model *m;
	pctl_status status = pctl_model_open(path, app->call, &m);

	if (status != PCTL_OK)
		return status;
	status = pctl_model_words_check(m, app->call);
	if (pctl_option_has(&app->line, "--full") && status == PCTL_OK)
		status = tensors(app, m, 1);
	pctl_model_close(m);
	return status;
}

/* base: NULL: it is held against none. */
static pctl_status check_adapter(pctl_app *app, const char *path, const pctl_model *base)
{
	pctl_adapter *a;
	pctl_status status = pctl_adapter_open(path, app->call, &a);

	if (status != PCTL_OK)
		return status;
	if (base != NULL)
		status = pctl_adapter_fit(a, base, app->call);
	if (pctl_option_has(&app->line, "--full") && status == PCTL_OK)
		status = pctl_app_adapter_tensors(app, a, 1);
	pctl_adapter_close(a);
	return status;
}

pctl_status pctl_verb_model_check(pctl_app *app)
{
	const char *base = pctl_option_value(&app->line, "--base");
	pctl_status first = PCTL_OK;
	pctl_model *m = NULL;

	if (base != NULL)
		first = pctl_model_open(base, app->call, &m);
	if (first != PCTL_OK)
		return first;
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		const char *path = app->line.arguments[i];
		pctl_status status = pctl_adapter_is(path) ? check_adapter(app, path, m)
							   : check_model(app, path);

		if (status == PCTL_OK && !app->json)
			printf("%s: ok\n", path);
		first = first == PCTL_OK ? status : first;
	}
	pctl_model_close(m);
	return first;
}
