/* What `model show` and `model check` tell of an adapter. */
#include <inttypes.h>
#include <stdio.h>

#include "model.h"

static const char *type_text(pctl_app *app, const pctl_tensor_type *t)
{
	const char *out = pctl_arena_printf(app->arena, "%s[%" PRIu64 ",%" PRIu64 "]",
					    pctl_dtype_of(t->dtype)->name, t->dim[0], t->dim[1]);

	return out == NULL ? "?" : out;
}

static pctl_status one_tensor(pctl_app *app, const pctl_adapter *a, const pctl_adapter_pair *p,
			      uint32_t matrix, int cids)
{
	char text[PCTL_CID_TEXT_SIZE] = "";
	pctl_status status = PCTL_OK;
	pctl_cid cid;

	if (cids)
		status = pctl_adapter_hash(a, p, matrix, app->call, &cid);
	if (status != PCTL_OK)
		return status;
	if (cids)
		(void)pctl_cid_format(&cid, text);
	if (!app->json) {
		pctl_table_cell(app->table, "%s", p->names[matrix]);
		pctl_table_cell(app->table, "%s", type_text(app, &p->types[matrix]));
		pctl_table_cell(app->table, "%" PRIu64, p->n_bytes[matrix]);
		if (cids)
			pctl_table_cell(app->table, "%s", text);
		return PCTL_OK;
	}
	pctl_json_object_begin(&app->document);
	pctl_json_kv_string(&app->document, "name", p->names[matrix]);
	pctl_json_kv_string(&app->document, "added_to", p->module);
	pctl_json_kv_string(&app->document, "type", type_text(app, &p->types[matrix]));
	pctl_json_kv_u64(&app->document, "bytes", p->n_bytes[matrix]);
	if (cids)
		pctl_json_kv_string(&app->document, "cid", text);
	pctl_json_object_end(&app->document);
	return PCTL_OK;
}

pctl_status pctl_app_adapter_tensors(pctl_app *app, const pctl_adapter *a, int cids)
{
	static const pctl_column columns[] = {
		{"tensor", "", 64}, {"type", " ", 16}, {"bytes", " ", -12}, {"cid", " ", 0}};
	const pctl_adapter_pair *p;
	pctl_status status = PCTL_OK;

	pctl_app_list_begin(app, "tensors", columns, cids ? 4 : 3);
	for (uint64_t i = 0; status == PCTL_OK && (p = pctl_adapter_at(a, i)) != NULL; i++)
		for (uint32_t k = 0; status == PCTL_OK && k < 2; k++)
			status = one_tensor(app, a, p, k, cids);
	return pctl_app_list_end(app, status);
}

/* Ranks and scales are those of all pairs, where these have the same. */
static void description(pctl_app *app, const pctl_adapter *a, const pctl_cid *cid)
{
	const pctl_adapter_facts *facts = pctl_adapter_facts_of(a);
	const pctl_adapter_pair *p, *first = pctl_adapter_at(a, 0);
	uint64_t n = 0, n_parameters = 0, n_bytes = 0;
	char text[PCTL_CID_TEXT_SIZE];
	int is_one = 1;

	for (; (p = pctl_adapter_at(a, n)) != NULL; n++) {
		is_one &= p->types[0].dim[0] == first->types[0].dim[0];
		n_parameters += p->types[0].dim[0] * (p->types[0].dim[1] + p->types[1].dim[0]);
		n_bytes += p->n_bytes[0] + p->n_bytes[1];
	}
	pctl_app_fact_word(app, "kind", "lora");
	pctl_app_fact_word(app, "format",
			   facts->layout == PCTL_MODEL_LAYOUT_GGUF ? "gguf" : "peft");
	if (facts->architecture != NULL)
		pctl_app_fact_word(app, "architecture", facts->architecture);
	pctl_app_fact_number(app, "alpha", facts->alpha);
	pctl_app_fact_word(app, "alpha_over",
			   facts->rank_scaled ? "the root of the rank" : "the rank");
	if (is_one) {
		pctl_app_fact_size(app, "rank", first->types[0].dim[0]);
		pctl_app_fact_number(app, "scale", (double)pctl_adapter_scale(a, first, 1));
	} else {
		pctl_app_fact_word(app, "rank", "of each projection");
	}
	pctl_app_fact_size(app, "projections", n);
	pctl_app_fact_size(app, "parameters", n_parameters);
	pctl_app_fact_size(app, "bytes", n_bytes);
	pctl_app_fact_word(app, "cid", pctl_cid_format(cid, text));
}

pctl_status pctl_app_adapter_show(pctl_app *app, const char *path)
{
	pctl_adapter *a;
	pctl_status status = pctl_adapter_open(path, app->call, &a);
	pctl_cid cid;

	if (status == PCTL_OK)
		status = pctl_adapter_cid(a, NULL, NULL, app->call, &cid);
	if (status == PCTL_OK && app->json) {
		pctl_json_key(&app->document, "adapter");
		pctl_json_object_begin(&app->document);
	} else if (status == PCTL_OK) {
		printf("%s\n", path);
	}
	if (status == PCTL_OK) {
		description(app, a, &cid);
		if (app->json)
			pctl_json_object_end(&app->document);
		else
			printf("\n");
		status = pctl_app_adapter_tensors(app, a, 0);
	}
	pctl_adapter_close(a);
	return status;
}
