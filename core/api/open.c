/* Opening an installation, and what every call does first and last; see private.h. */
#include <stdlib.h>
#include <string.h>

#include "api/private.h"

const char *pipectl_version(void)
{
	return PIPECTL_VERSION;
}

const char *pipectl_code_name(uint32_t code)
{
	return pctl_code_slug(code);
}

const char *pipectl_code_summary(uint32_t code)
{
	return pctl_code_summary(code);
}

const char *pipectl_code_explanation(uint32_t code)
{
	return pctl_code_explanation(code);
}

const char *pipectl_status_name(pctl_status status)
{
	return pctl_status_name(status);
}

void pipectl_free(char *text)
{
	free(text);
}

/* ---- structures --------------------------------------------------------------------------- */

pctl_status pipectl_misused(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC11_API_USE, "%s", what);
}

pctl_status pipectl_take(const pctl_call *call, void *to, uint32_t size, const void *from,
			 const char *what)
{
	const pctl_head *head = from;

	memset(to, 0, size);
	if (from == NULL)
		return PCTL_OK;
	if (head->size < sizeof(*head))
		return pctl_refuse(call, PC11_API_USE, "%s has no head: begin it with PCTL_HEAD",
				   what);
	for (uint32_t i = size; i < head->size; i++)
		if (((const uint8_t *)from)[i] != 0)
			return pctl_refuse(call, PC11_API_USE,
					   "%s asks for what version %s of the library has not",
					   what, PIPECTL_VERSION);
	memcpy(to, from, head->size < size ? head->size : size);
	return PCTL_OK;
}

pctl_status pipectl_give(const pctl_call *call, void *to, const void *from, uint32_t size,
			 const char *what)
{
	pctl_head *head = to, kept = *head;

	if (head->size < sizeof(*head))
		return pctl_refuse(call, PC11_API_USE, "%s has no head: begin it with PCTL_HEAD",
				   what);
	memset(to, 0, head->size);
	memcpy(to, from, kept.size < size ? kept.size : size);
	*head = kept;
	return PCTL_OK;
}

/* ---- a call ------------------------------------------------------------------------------- */

static void take_diagnostic(void *ctx, const pctl_diag *d)
{
	pipectl *p = ctx;
	uint32_t before, errors;

	if (p->said != NULL) {
		before = pctl_diag_list_count(p->said);
		errors = pctl_diag_list_errors(p->said);
		pctl_diag_list_add(p->said, d);
		if (pctl_diag_list_count(p->said) != before)
			d = pctl_diag_list_at(p->said, before);
		else if (pctl_diag_list_errors(p->said) == errors)
			return; /* said before; an error that could not be kept is told all the same */
	}
	if (p->asked.diagnostic != NULL)
		p->asked.diagnostic(p->asked.ctx, d);
}

static uint32_t ask_cancel(void *ctx)
{
	pipectl *p = ctx;
	const uint32_t yes = p->asked.cancel != NULL && p->asked.cancel(p->asked.ctx) != 0;

	p->cancelled |= yes;
	return yes;
}

void pipectl_tell(void *ctx, const pctl_progress *from)
{
	const pipectl *p = ctx;
	const pipectl_progress now = {.head = PCTL_HEAD(pipectl_progress),
				      .phase = p->phase,
				      .what = from->what,
				      .device = from->device != NULL ? from->device : p->device,
				      .done = from->done,
				      .total = from->total,
				      .stage = from->stage,
				      .unit = from->unit,
				      .bytes = from->bytes,
				      .total_bytes = from->total_bytes,
				      .memory_bytes = from->memory_bytes,
				      .elapsed_ns = from->elapsed_ns,
				      .limit_ns = from->limit_ns,
				      .job = from->job,
				      .jobs = from->jobs,
				      .repeat = from->repeat,
				      .repeats = from->repeats};

	if (p->asked.progress != NULL)
		p->asked.progress(p->asked.ctx, &now);
}

static void tell_probe(void *ctx, const char *device)
{
	pipectl *p = ctx;
	const char *phase = p->phase;

	p->phase = "probe";
	pipectl_tell(p, &(pctl_progress){.device = device});
	p->phase = phase;
}

pctl_status pipectl_begin(pipectl *p, const pctl_diag_list *before, const char *phase)
{
	pctl_diag_list_destroy(p->said);
	p->said = pctl_diag_list_create();
	p->phase = phase;
	p->device = NULL;
	p->cancelled = 0;
	if (p->said == NULL)
		return pctl_no_memory(&p->call, "diagnostics");
	for (uint32_t i = 0; before != NULL && i < pctl_diag_list_count(before); i++)
		pctl_diag_list_add(p->said, pctl_diag_list_at(before, i));
	return PCTL_OK;
}

pctl_status pipectl_end(pipectl *p, pctl_status status)
{
	/* A worker that is ended for it is a lost device to whoever asks it next. */
	if (status != PCTL_OK && p->cancelled)
		status = PCTL_E_CANCELLED;
	if (status == PCTL_OK || p->said == NULL || pctl_diag_list_errors(p->said) != 0)
		return status;
	if (status == PCTL_E_NOMEM)
		(void)pctl_refuse(&p->call, PC2_NOMEM, "no memory");
	else if (status == PCTL_E_CANCELLED)
		(void)pctl_refuse(&p->call, PC4_CANCELLED, "cancelled");
	else
		(void)pctl_refuse(&p->call, PC1_INTERNAL, "a call failed (%s) without a message",
				  pctl_status_name(status));
	return status;
}

pctl_status pipectl_document(pipectl *p, pctl_json *j, pctl_status status, char **out)
{
	*out = pctl_document_end(j, status, p->said);
	if (*out == NULL && status == PCTL_OK)
		status = pctl_no_memory(&p->call, "the document");
	return status;
}

/* ---- opening ------------------------------------------------------------------------------ */

static pctl_status copy_text(pipectl *p, const char **text)
{
	const char *copy = pctl_arena_dup(p->arena, *text);

	if (*text != NULL && copy == NULL)
		return pctl_no_memory(&p->call, "options");
	*text = copy;
	return PCTL_OK;
}

static pctl_status copy_options(pipectl *p)
{
	pipectl_options *o = &p->asked;
	const char **texts[] = {&o->home, &o->config, &o->policy, &o->gas_schedule}, **dirs;
	pctl_status status = PCTL_OK;

	for (size_t i = 0; status == PCTL_OK && i < sizeof(texts) / sizeof(texts[0]); i++)
		status = copy_text(p, texts[i]);
	dirs = pctl_arena_array(p->arena, o->n_plugin_dirs + (size_t)1, sizeof(*dirs));
	if (dirs == NULL)
		return pctl_no_memory(&p->call, "options");
	for (uint32_t i = 0; status == PCTL_OK && i < o->n_plugin_dirs; i++) {
		dirs[i] = o->plugin_dirs[i];
		status = copy_text(p, &dirs[i]);
	}
	o->plugin_dirs = dirs;
	return status;
}

static pctl_status open_host(pipectl *p)
{
	pipectl_options *o = &p->asked;
	pctl_installation_options host;
	int in_process;
	pctl_status status = copy_options(p);

	if (status != PCTL_OK)
		return status;
	if (o->flags & ~(PIPECTL_IN_PROCESS | PIPECTL_DEBUG))
		return pipectl_misused(&p->call, "options has a flag that does not exist");
	host = (pctl_installation_options){.home = o->home,
					   .config = o->config,
					   .policy = o->policy,
					   .schedule = o->gas_schedule,
					   .plugin_dirs = o->plugin_dirs,
					   .n_plugin_dirs = o->n_plugin_dirs,
					   .in_process = (o->flags & PIPECTL_IN_PROCESS) != 0,
					   .progress = {pipectl_tell, p},
					   .probing = tell_probe,
					   .ctx = p};
	status = pctl_installation_init(&p->host, &host, &p->call);
	if (status == PCTL_OK)
		status = pctl_installation_policy(&p->host, &p->call);
	return status == PCTL_OK && host.in_process
		       ? pctl_installation_in_process(&p->host, &p->call, &in_process)
		       : status;
}

pctl_status pipectl_open(const pipectl_options *options, pipectl **out)
{
	/* Before there is memory, errors of opening are told from here. */
	pipectl first = {.call = {PCTL_HEAD(pctl_call), &first, take_diagnostic, ask_cancel, 0}};
	pctl_status status = PIPECTL_TAKE(&first.call, &first.asked, options);
	pipectl *p = status == PCTL_OK ? calloc(1, sizeof(*p)) : NULL;

	*out = NULL;
	if (status != PCTL_OK)
		return status;
	if (p == NULL || (first.arena = pctl_arena_create()) == NULL) {
		free(p);
		return pctl_no_memory(&first.call, "an installation");
	}
	*p = first;
	p->call.ctx = p;
	status = pipectl_begin(p, NULL, NULL);
	if (status == PCTL_OK)
		status = pipectl_end(p, open_host(p));
	if (status != PCTL_OK)
		pipectl_close(p);
	else
		*out = p;
	return status;
}

void pipectl_close(pipectl *p)
{
	if (p == NULL)
		return;
	pctl_installation_close(&p->host);
	pctl_diag_list_destroy(p->said);
	pctl_arena_destroy(p->arena);
	free(p);
}
