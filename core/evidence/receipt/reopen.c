/* A receipt's pipeline out of the store: its texts as a view, its parameters, its inputs by CID. */
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/replay.h"

/* ---- the view ----------------------------------------------------------------------------- */

static char *beside(void *ctx, const char *from, const char *path)
{
	const char *slash = strrchr(from, '/');
	char *folder, *joined, *plain = NULL;

	(void)ctx;
	if (path[0] == '/' || slash == NULL)
		return pctl_path_plain(path);
	folder = strndup(from, (size_t)(slash - from));
	joined = folder == NULL ? NULL : pctl_path_join(folder, path);
	if (joined != NULL)
		plain = pctl_path_plain(joined);
	free(folder);
	free(joined);
	return plain;
}

static const pctl_receipt_data *text_of(const pctl_reopened *p, const char *name)
{
	for (uint32_t i = 0; i < p->receipt->n_texts; i++)
		if (strcmp(p->receipt->texts[i].name, name) == 0)
			return &p->receipt->texts[i];
	return NULL;
}

static int exists(void *ctx, const char *name)
{
	return text_of(ctx, name) != NULL;
}

static pctl_status read_text(void *ctx, const char *name, uint64_t limit, const pctl_call *call,
			     char **out, uint64_t *n_out)
{
	const pctl_reopened *p = ctx;
	const pctl_receipt_data *t = text_of(p, name);
	pctl_blob blob;
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	if (t == NULL)
		return pctl_refuse(call, PC3_IO, "%s is not among the texts of %s", name,
				   p->receipt->name);
	if (t->n_bytes > limit)
		return pctl_refuse(call, PC3_IO, "%s is too long", name);
	status = pctl_store_get(p->store, &t->cid, call, &blob);
	if (status != PCTL_OK)
		return status;
	*out = malloc(blob.n_bytes + 1);
	if (*out == NULL) {
		status = pctl_no_memory(call, "a receipt");
	} else {
		memcpy(*out, blob.data, blob.n_bytes);
		(*out)[blob.n_bytes] = '\0';
		*n_out = blob.n_bytes;
	}
	pctl_blob_release(&blob);
	return status;
}

/* ---- opening ------------------------------------------------------------------------------ */

static pctl_status present(const pctl_reopened *p, const pctl_call *call)
{
	const pctl_receipt *r = p->receipt;
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < r->n_texts + r->n_inputs; i++) {
		const pctl_receipt_data *d =
			i < r->n_texts ? &r->texts[i] : &r->inputs[i - r->n_texts];

		if (!pctl_store_has(p->store, &d->cid))
			status = pctl_refuse(call, PC5904_RECEIPT_MISSING, "%s: %s \"%s\", %s",
					     r->name, i < r->n_texts ? "text" : "input", d->name,
					     pctl_cid_format(&d->cid, cid));
	}
	if (r->n_texts == 0)
		status = pctl_refuse(call, PC5904_RECEIPT_MISSING, "%s names no text", r->name);
	return status;
}

static pctl_status resolve(pctl_reopened *p, const pctl_run_options *o, pctl_kernels *kernels,
			   const pctl_call *call)
{
	const pctl_receipt *r = p->receipt;
	pctl_setting *sets = pctl_arena_array(p->arena, r->n_params + (size_t)1, sizeof(*sets));
	char cid[PCTL_CID_TEXT_SIZE];
	pctl_graph_options options = {.n_sets = r->n_params, .ops = o->ops, .kernels = kernels};
	pctl_status status;

	p->ins = pctl_arena_array(p->arena, r->n_inputs + (size_t)1, sizeof(*p->ins));
	if (sets == NULL || p->ins == NULL)
		return pctl_no_memory(call, "a receipt");
	for (uint32_t i = 0; i < r->n_params; i++)
		sets[i] = (pctl_setting){r->params[i].key, r->params[i].value};
	for (uint32_t i = 0; i < r->n_inputs; i++) {
		p->ins[i].name = r->inputs[i].name;
		/* With the type that it had: sizes alone may not tell it. */
		p->ins[i].value = pctl_arena_printf(p->arena, "%s:%s",
						    pctl_cid_format(&r->inputs[i].cid, cid),
						    r->inputs[i].type);
		if (p->ins[i].value == NULL)
			return pctl_no_memory(call, "a receipt");
	}
	p->n_ins = r->n_inputs;
	options.sets = sets;
	status = pctl_pipeline_read_set(p->view, r->texts[0].name, sets, r->n_params, call,
					&p->pipeline);
	if (status == PCTL_OK)
		status = pctl_graph_resolve(p->pipeline, &options, call, NULL, NULL, &p->graph);
	return status;
}

/* The first line in which two questions differ. */
static pctl_status refuse_question(const pctl_receipt *r, const char *was, const char *is,
				   const pctl_call *call)
{
	while (*was != '\0') {
		const size_t n = strcspn(was, "\n"), k = strcspn(is, "\n");

		if (n != k || memcmp(was, is, n) != 0)
			return pctl_refuse(call, PC5907_RECEIPT_QUESTION,
					   "%s says \"%.*s\", here it is \"%.*s\"", r->name, (int)n,
					   was, (int)k, is);
		was += n + (was[n] != '\0');
		is += k + (is[k] != '\0');
	}
	return pctl_refuse(
		call, PC5907_RECEIPT_QUESTION,
		"the pipeline built from the texts of %s asks for more than the receipt says",
		r->name);
}

static pctl_status check_question(const pctl_reopened *p, const pctl_run_options *o,
				  const pctl_call *call)
{
	const pctl_receipt *r = p->receipt;
	const pctl_run_options options = pctl_reopened_options(p, o);
	pctl_str_buf was = PCTL_STR_BUF_INIT, is = PCTL_STR_BUF_INIT;
	pctl_receipt *here;
	pctl_status status = pctl_receipt_create(call, &here);

	if (status != PCTL_OK)
		return status;
	status = pctl_receipt_ask(here, p->graph, &options, r->texts, r->n_texts, call);
	here->inputs = r->inputs;
	here->n_inputs = r->n_inputs;
	if (status == PCTL_OK)
		status = pctl_receipt_question(r, call, &was);
	if (status == PCTL_OK)
		status = pctl_receipt_question(here, call, &is);
	if (status == PCTL_OK && strcmp(was.data, is.data) != 0)
		status = refuse_question(r, was.data, is.data, call);
	pctl_str_drop(&was);
	pctl_str_drop(&is);
	pctl_receipt_destroy(here);
	return status;
}

pctl_run_options pctl_reopened_options(const pctl_reopened *p, const pctl_run_options *o)
{
	pctl_run_options options = *o;

	options.ins = p->ins;
	options.n_ins = p->n_ins;
	options.flags |= PCTL_RUN_FRESH | PCTL_RUN_UNPLACED;
	options.flags &= ~PCTL_RUN_NATIVE;
	if (p->receipt->native)
		options.flags |= PCTL_RUN_NATIVE;
	return options;
}

pctl_status pctl_receipt_reopen(const pctl_receipt *r, const pctl_run_options *o,
				pctl_kernels *kernels, const pctl_call *call, pctl_reopened **out)
{
	pctl_arena *arena = pctl_arena_create();
	pctl_reopened *p = arena == NULL ? NULL : pctl_arena_alloc(arena, sizeof(*p));
	pctl_status status;

	*out = NULL;
	if (p == NULL) {
		pctl_arena_destroy(arena);
		return pctl_no_memory(call, "a receipt");
	}
	*p = (pctl_reopened){.receipt = r, .store = o->store, .arena = arena};
	p->view = pctl_arena_alloc(arena, sizeof(*p->view));
	if (p->view != NULL)
		*p->view = (pctl_vfs){p, beside, exists, read_text, NULL};
	status = p->view == NULL ? pctl_no_memory(call, "a receipt") : present(p, call);
	if (status == PCTL_OK)
		status = resolve(p, o, kernels, call);
	if (status == PCTL_OK)
		status = check_question(p, o, call);
	if (status == PCTL_OK)
		*out = p;
	else
		pctl_reopened_close(p);
	return status;
}

void pctl_reopened_close(pctl_reopened *p)
{
	if (p == NULL)
		return;
	pctl_graph_destroy(p->graph);
	pctl_pipeline_destroy(p->pipeline);
	pctl_arena_destroy(p->arena); /* which holds p itself */
}
