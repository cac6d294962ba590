/* `audit` and `audit verify`: which devices, how often, where the report goes, and what the verdict means for the exit
 * code. */
#include "app.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "evidence/audit/forms.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"

#define DEFAULT_REPEAT 2u
#define MOST_REPEATS 1000u
#define FORMS_MS 4000u /* a device, for what its forms cost */

/* ---- options ------------------------------------------------------------------------------------ */

static pctl_status number_of(pctl_app *app, const char *option, uint32_t most, uint32_t *value)
{
	const char *text = pctl_option_value(&app->line, option);
	uint64_t n;

	if (text == NULL)
		return PCTL_OK;
	if (!pctl_num_parse_u64(text, strlen(text), &n) || n == 0 || n > most)
		return pctl_refuse(app->call, PC10_USAGE, "%s takes 1 to %" PRIu32 ", not \"%s\"",
				   option, most, text);
	*value = (uint32_t)n;
	return PCTL_OK;
}

typedef struct selectors {
	const char **at;
	uint32_t n, cap;
} selectors;

static pctl_status add_selector(pctl_app *app, selectors *s, const char *text)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->at[i], text) == 0)
			return PCTL_OK;
	}
	if (s->n == s->cap) {
		const uint32_t cap = s->cap == 0 ? 16 : 2 * s->cap;
		const char **grown = pctl_arena_array(app->arena, cap, sizeof(*grown));

		if (grown == NULL)
			return pctl_refuse(app->call, PC2_NOMEM, "no memory for options");
		if (s->n != 0)
			memcpy(grown, s->at, s->n * sizeof(*grown));
		s->at = grown;
		s->cap = cap;
	}
	s->at[s->n] = pctl_arena_dup(app->arena, text);
	return s->at[s->n++] != NULL ? PCTL_OK
				     : pctl_refuse(app->call, PC2_NOMEM, "no memory for options");
}

/* Why a device of `all` cannot take part, or NULL. What it says otherwise is not the user's concern. */
static const char *unfit(pctl_app *app, const pctl_graph *g, const pctl_run_options *run,
			 const char *selector)
{
	pctl_diag_list *said = pctl_diag_list_create();
	pctl_run_options o = *run;
	pctl_run_result *result = NULL;
	const char *why = NULL;

	if (said == NULL)
		return "no memory";
	pctl_diag_list_set_cancel(said, app->call->cancelled, app->call->ctx);
	o.backends = &selector;
	o.n_backends = 1;
	if (pctl_run_plan(g, &o, pctl_diag_list_call(said), &result) != PCTL_OK)
		why = pctl_diag_list_count(said) == 0
			      ? "refused"
			      : pctl_arena_dup(app->arena, pctl_diag_list_at(said, 0)->message);
	pctl_run_result_destroy(result);
	pctl_diag_list_destroy(said);
	return why;
}

static pctl_status add_all(pctl_app *app, const pctl_graph *g, const pctl_run_options *run,
			   selectors *s)
{
	pctl_devices *list;
	pctl_status status = pctl_devices_list(app->host.registry, NULL, 0, app->call, &list);

	for (uint32_t i = 0; status == PCTL_OK && i < pctl_devices_count(list); i++) {
		const pctl_device_entry *e = pctl_devices_at(list, i);
		const char *why;

		if (e->state != PCTL_DEVICE_USABLE || e->roles & PCTL_ROLE_INERT)
			continue;
		why = unfit(app, g, run, e->selector);
		if (why == NULL)
			status = add_selector(app, s, e->selector);
		else if (!app->quiet)
			fprintf(stderr, "%s does not take part: %s\n", e->selector, why);
	}
	if (list != NULL)
		pctl_devices_destroy(list);
	return status;
}

static pctl_status find_devices(pctl_app *app, const pctl_graph *g, pctl_audit_options *o)
{
	const char *text = pctl_option_value(&app->line, "--backends");
	char *copy = pctl_arena_dup(app->arena, text == NULL ? "all" : text), *rest = copy, *one;
	selectors s = {NULL, 0, 0};
	pctl_status status =
		copy == NULL ? pctl_refuse(app->call, PC2_NOMEM, "no memory for options") : PCTL_OK;

	while (status == PCTL_OK && (one = strsep(&rest, ",")) != NULL) {
		if (*one == '\0')
			status = pctl_refuse(app->call, PC10_USAGE,
					     "--backends takes selectors with commas between them, "
					     "not \"%s\"",
					     text);
		else if (strcmp(one, "all") == 0)
			status = add_all(app, g, &o->run, &s);
		else
			status = add_selector(app, &s, one);
	}
	o->selectors = s.at;
	o->n_selectors = s.n;
	return status;
}

/* --quorum, or what the policy asks for. */
static pctl_status find_quorum(pctl_app *app, pctl_audit_options *o)
{
	const pctl_policy *p = app->host.policy;
	pctl_status status;

	if (!pctl_option_has(&app->line, "--quorum") && p->quorum_n > 1) {
		o->quorum = p->quorum_k;
		if (o->n_selectors < p->quorum_n)
			return pctl_refuse(app->call, PC10_USAGE,
					   "the policy (%s) asks for %" PRIu32
					   " devices, and only %" PRIu32 " take part",
					   pctl_policy_origin(p, "quorum"), p->quorum_n,
					   o->n_selectors);
	}
	status = number_of(app, "--quorum", 1000, &o->quorum);
	if (status == PCTL_OK && o->quorum > o->n_selectors)
		status = pctl_refuse(app->call, PC10_USAGE,
				     "a quorum of %" PRIu32 " cannot be had from %" PRIu32
				     " devices",
				     o->quorum, o->n_selectors);
	return status;
}

static void say_progress(void *ctx, const char *device, uint32_t repeat, const char *job)
{
	char text[200];

	snprintf(text, sizeof(text), "%.80s, run %" PRIu32 ": %.80s", device, repeat + 1, job);
	pctl_app_progress(ctx, text, 0, 0);
}

static pctl_status read_options(pctl_app *app, const pctl_loaded_pipeline *p, pctl_audit_options *o)
{
	const char *report = pctl_option_value(&app->line, "--report"), **backends;
	pctl_setting *ins;
	pctl_status status = pctl_app_run_options(app, &o->run, &backends);

	if (status == PCTL_OK)
		status = pctl_app_settings(app, "--in", &ins, &o->run.n_ins);
	if (status != PCTL_OK)
		return status;
	o->run.ins = ins;
	o->natives = (uint32_t)pctl_option_has(&app->line, "--natives");
	if (o->natives)
		status = pctl_policy_class_allowed(app->host.policy, PCTL_CLASS_APPROXIMATE,
						   p->pipeline->max_class, "--natives", app->call);
	o->repeat = DEFAULT_REPEAT;
	if (status == PCTL_OK)
		status = number_of(app, "--repeat", MOST_REPEATS, &o->repeat);
	if (status == PCTL_OK)
		status = find_devices(app, p->graph, o);
	if (status == PCTL_OK)
		status = find_quorum(app, o);
	o->pipeline_file = app->line.arguments[0];
	o->repro = report != NULL ? pctl_arena_printf(app->arena, "%s/reproduction", report)
				  : pctl_arena_printf(app->arena, "%s/reproductions",
						      app->host.config->home);
	o->progress = say_progress;
	o->progress_ctx = app;
	return status;
}

/* ---- the report --------------------------------------------------------------------------------- */

static void add_word(pctl_str_buf *s, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+=:,./@";

	pctl_str_add(s, " ");
	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		pctl_str_add(s, word);
		return;
	}
	pctl_str_add(s, "'");
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			pctl_str_add(s, "'\\''");
		else
			pctl_str_add_n(s, word, 1);
	}
	pctl_str_add(s, "'");
}

/* What was typed, as a shell would take it again. */
static char *command_of(const pctl_app *app)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_add(&s, "pipectl audit");
	for (uint32_t i = 0; i < app->line.n_arguments; i++)
		add_word(&s, app->line.arguments[i]);
	for (uint32_t i = 0; i < app->line.n_given; i++) {
		add_word(&s, app->line.given[i].option->name);
		if (app->line.given[i].option->value != NULL)
			add_word(&s, app->line.given[i].value);
	}
	return pctl_str_finish(&s);
}

static pctl_status write_report(pctl_app *app, pctl_audit_result *r, const pctl_audit_options *o)
{
	const char *dir = pctl_option_value(&app->line, "--report"),
		   *keys = pctl_arena_printf(app->arena, "%s/keys", app->host.config->home);
	pctl_signer *signer = NULL;
	char *command;
	pctl_status status;

	if (dir == NULL)
		return PCTL_OK;
	command = command_of(app);
	status = command == NULL || keys == NULL
			 ? pctl_refuse(app->call, PC2_NOMEM, "no memory for a report")
			 : pctl_forms_measure(r, &o->run, FORMS_MS, app->call);
	if (status == PCTL_OK)
		status = pctl_signer_open(keys, app->call, &signer);
	if (status == PCTL_OK)
		status = pctl_audit_report(r, command, dir, signer, app->call);
	pctl_signer_close(signer);
	free(command);
	return status;
}

/* ---- the verdict -------------------------------------------------------------------------------- */

/* A device that failed gave no bytes that could differ: that is no mismatch, and no success either. The exit status is
 * that of its own trouble where the plugin is at fault. */
static pctl_status tell_failed(pctl_app *app, const pctl_audit_result *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < r->n_devices; i++) {
		const pctl_audit_device *d = &r->devices[i];

		if (d->outcome != PCTL_AUDIT_FAILED)
			continue;
		(void)pctl_refuse(app->call, PC5614_AUDIT_FAILED, "%s did not come to an end: %s",
				  d->selector, d->cause == NULL ? "" : d->cause);
		if (status == PCTL_OK)
			status = d->status == PCTL_E_PLUGIN ? PCTL_E_PLUGIN : PCTL_E_EXEC;
	}
	return status;
}

static pctl_status tell_unsteady(pctl_app *app, const pctl_audit_result *r)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < r->n_devices; i++)
		if (r->devices[i].outcome == PCTL_AUDIT_UNSTEADY)
			status =
				pctl_refuse(app->call, PC5615_AUDIT_NOT_REPRODUCIBLE, "%s: %s",
					    r->devices[i].selector,
					    r->devices[i].cause == NULL ? "" : r->devices[i].cause);
	return status;
}

static pctl_status judge(pctl_app *app, const pctl_audit_result *r)
{
	const pctl_status unsteady = tell_unsteady(app, r), failed = tell_failed(app, r);

	switch (pctl_audit_verdict(r)) {
	case PCTL_AUDIT_RACE:
		return pctl_refuse(app->call, PC5220_RACE, "no device is blamed: %s", r->race);
	case PCTL_AUDIT_DIFFERS:
		return pctl_refuse(app->call, PC5612_AUDIT_MISMATCH,
				   "pipeline \"%s\" gives different bytes on these devices%s%s",
				   r->pipeline, r->race == NULL ? "" : "; nobody is blamed: ",
				   r->race == NULL ? "" : r->race);
	case PCTL_AUDIT_NOT_REPRODUCIBLE:
		return unsteady;
	case PCTL_AUDIT_WEAK:
		return pctl_refuse(
			app->call, PC5613_AUDIT_WEAK,
			"every output of pipeline \"%s\" is all zero, all NaN or all the same",
			r->pipeline);
	default:
		return failed;
	}
}

static pctl_status show_and_judge(pctl_app *app, pctl_audit_result *r, const pctl_audit_options *o)
{
	const int quarantine = !r->natives && !pctl_option_has(&app->line, "--no-quarantine");
	uint32_t n = 0;
	pctl_status status = write_report(app, r, o), verdict;

	if (status == PCTL_OK && quarantine)
		status = pctl_audit_quarantine(r, o, app->call, &n);
	if (app->json)
		pctl_audit_document(app, r, n);
	else
		pctl_audit_print(app, r, n);
	verdict = judge(app, r);
	return verdict != PCTL_OK ? verdict : status;
}

pctl_status pctl_verb_audit(pctl_app *app)
{
	pctl_audit_options o = {.repeat = DEFAULT_REPEAT};
	pctl_audit_result *r = NULL;
	pctl_loaded_pipeline p;
	pctl_status status = pctl_app_load(app, app->line.arguments[0], &p);

	if (status == PCTL_OK)
		status = read_options(app, &p, &o);
	if (status == PCTL_OK)
		status = pctl_admit(&app->host, &p, app->call);
	if (status == PCTL_OK)
		status = pctl_scratch_make(&app->host, app->call, &o.scratch);
	if (status == PCTL_OK)
		status = pctl_audit(p.graph, &o, app->call, &r);
	pctl_app_progress_clear(app);
	if (status == PCTL_OK)
		status = show_and_judge(app, r, &o);
	pctl_audit_result_destroy(r);
	pctl_scratch_drop(o.scratch);
	pctl_loaded_pipeline_close(&p);
	return status;
}

pctl_status pctl_verb_audit_verify(pctl_app *app)
{
	const char *dir = app->line.arguments[0];
	char key[PCTL_PUBLIC_KEY_TEXT];
	pctl_status status = pctl_audit_verify(dir, app->call, key);

	if (app->json) {
		pctl_json_kv_string(&app->document, "directory", dir);
		pctl_json_kv_bool(&app->document, "intact", status == PCTL_OK);
		pctl_json_kv_string(&app->document, "key", status == PCTL_OK ? key : NULL);
	} else if (status == PCTL_OK) {
		printf("%s: intact, signed by %s\n", dir, key);
	}
	return status;
}
