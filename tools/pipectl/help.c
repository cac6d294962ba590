/* Usage, of all verbs or of some, from the table of verbs; with --json the table itself. */
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "fold.h"

#define LEFT_COLUMNS 32u

static void json_options(pctl_json *j, const char *key, const pctl_option *options)
{
	pctl_json_key(j, key);
	pctl_json_array_begin(j);
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "name", options[i].name);
		pctl_json_kv_string(j, "value", options[i].value);
		pctl_json_kv_string(j, "about", options[i].about);
		pctl_json_kv_bool(j, "repeatable", (int)options[i].many);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void json_verb(pctl_json *j, const pctl_verb *v)
{
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "verb", v->name);
	pctl_json_kv_string(j, "sub", v->sub);
	pctl_json_kv_string(j, "arguments", v->arguments);
	pctl_json_kv_string(j, "about", v->about);
	pctl_json_kv_string(j, "detail", v->detail);
	json_options(j, "options", v->options);
	pctl_json_kv_string(j, "example", v->example);
	pctl_json_object_end(j);
}

static void json_rest(pctl_json *j)
{
	json_options(j, "global_options", pctl_global_options);
	pctl_json_key(j, "exit_codes");
	pctl_json_array_begin(j);
	for (const pctl_exit_code *e = pctl_exit_codes; e->meaning != NULL; e++) {
		pctl_json_object_begin(j);
		pctl_json_kv_u32(j, "status", (uint32_t)e->status);
		pctl_json_kv_string(j, "meaning", e->meaning);
		pctl_json_object_end(j);
	}
	pctl_json_array_end(j);
}

static void print_options(const char *title, const pctl_option *options)
{
	if (options != NULL)
		printf("\n%s:\n", title);
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++) {
		char left[64], right[256];

		snprintf(left, sizeof(left), "%s%s%s", options[i].name,
			 options[i].value == NULL ? "" : " ",
			 options[i].value == NULL ? "" : options[i].value);
		snprintf(right, sizeof(right), "%s%s", options[i].about,
			 options[i].many ? " (repeatable)" : "");
		pctl_print_pair(stdout, left, LEFT_COLUMNS, right);
	}
}

static void print_usage(const pctl_verb *v)
{
	char line[256];

	snprintf(line, sizeof(line), "usage: pipectl %s%s%s [OPTION]...%s%s", v->name,
		 v->sub == NULL ? "" : " ", v->sub == NULL ? "" : v->sub,
		 v->arguments[0] == '\0' ? "" : " ", v->arguments);
	pctl_print_folded(stdout, 0, 4, line);
	printf("\n");
	pctl_print_folded(stdout, 0, 0, v->about);
	if (v->detail != NULL) {
		printf("\n");
		pctl_print_folded(stdout, 0, 0, v->detail);
	}
	print_options("options", v->options);
	printf("\nexample:\n  ");
	pctl_print_folded(stdout, 2, 6, v->example);
}

static void print_rest(void)
{
	print_options("global options", pctl_global_options);
	printf("\nexit status:\n");
	for (const pctl_exit_code *e = pctl_exit_codes; e->meaning != NULL; e++) {
		char left[16];

		snprintf(left, sizeof(left), "%d", e->status);
		pctl_print_pair(stdout, left, 4, e->meaning);
	}
}

static void print_all(void)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	printf("usage: pipectl VERB [OPTION]... [ARGUMENT]...\n\n");
	pctl_print_folded(stdout, 0, 0,
			  "Declared compute pipelines, the same bytes on every device. `pipectl "
			  "init` begins one; `pipectl VERB --help` says all of a verb.");
	printf("\n");
	for (uint32_t i = 0; i < n; i++) {
		char left[96];

		snprintf(left, sizeof(left), "%s%s%s %s", verbs[i].name,
			 verbs[i].sub == NULL ? "" : " ", verbs[i].sub == NULL ? "" : verbs[i].sub,
			 verbs[i].arguments);
		pctl_print_pair(stdout, left, LEFT_COLUMNS, verbs[i].about);
	}
}

/* `help VERB [SUB]`, `VERB [SUB] --help`; name NULL: all. */
static void show(pctl_app *app, const char *name, const char *sub)
{
	uint32_t n, shown = 0;
	const pctl_verb *verbs = pctl_verbs(&n);

	if (app->json) {
		pctl_json_key(&app->document, "verbs");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (name != NULL &&
		    (strcmp(verbs[i].name, name) != 0 ||
		     (sub != NULL && (verbs[i].sub == NULL || strcmp(verbs[i].sub, sub) != 0))))
			continue;
		if (app->json)
			json_verb(&app->document, &verbs[i]);
		else if (name != NULL && shown != 0)
			printf("\n");
		if (!app->json && name != NULL)
			print_usage(&verbs[i]);
		shown++;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	else if (name == NULL)
		print_all();
}

pctl_status pctl_verb_help(pctl_app *app)
{
	const pctl_command_line *l = &app->line;
	const char *name = l->group, *sub = NULL;

	if (l->verb != NULL &&
	    (strcmp(l->verb->name, "help") != 0 || pctl_option_has(l, "--help"))) {
		name = l->verb->name;
		sub = l->verb->sub;
	} else if (l->verb != NULL) {
		name = l->n_arguments > 0 ? l->arguments[0] : NULL;
		sub = l->n_arguments > 1 ? l->arguments[1] : NULL;
	} else if (name == NULL && !pctl_option_has(l, "--help")) {
		return pctl_refuse_at(app->call, PC10_USAGE, NULL, "`pipectl help` lists the verbs",
				      "a verb is missing");
	}
	if (name != NULL && pctl_verb_find(name, sub) == NULL &&
	    (sub != NULL || !pctl_verb_has_subs(name)))
		return pctl_verb_unknown(app->call, name, sub);
	show(app, name, sub);
	if (app->json)
		json_rest(&app->document);
	else
		print_rest();
	return PCTL_OK;
}
