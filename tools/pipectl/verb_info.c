/* Verbs that speak of the program itself: explain, version, help, completion, man. All from the
 * tables. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/num.h"

static void print_code(pctl_app *app, uint32_t code)
{
	if (app->json) {
		pctl_json *j = &app->document;
		char text[16];

		snprintf(text, sizeof(text), "PC%04" PRIu32, code);
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "code", text);
		pctl_json_kv_string(j, "slug", pctl_code_slug(code));
		pctl_json_kv_string(j, "summary", pctl_code_summary(code));
		pctl_json_kv_string(j, "explanation", pctl_code_explanation(code));
		pctl_json_kv_u32(j, "exit", (uint32_t)pctl_status_exit(pctl_code_status(code)));
		pctl_json_object_end(j);
		return;
	}
	printf("PC%04" PRIu32 " [%s]: %s (exit %d)\n", code, pctl_code_slug(code),
	       pctl_code_summary(code), pctl_status_exit(pctl_code_status(code)));
}

pctl_status pctl_verb_explain(pctl_app *app)
{
	const char *text = app->line.n_arguments == 0 ? NULL : app->line.arguments[0];
	uint64_t code = 0;

	if (app->json)
		pctl_json_key(&app->document, "codes");
	if (app->json)
		pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; text == NULL && i < pctl_code_count(); i++)
		print_code(app, pctl_code_at(i));
	if (text != NULL) {
		const char *digits =
			(text[0] == 'P' || text[0] == 'p') && (text[1] == 'C' || text[1] == 'c')
				? text + 2
				: text;

		while (digits[0] == '0' && digits[1] != '\0')
			digits++;
		if (!pctl_num_parse_u64(digits, strlen(digits), &code) || code > UINT32_MAX ||
		    pctl_code_slug((uint32_t)code) == NULL) {
			code = 0;
			for (uint32_t i = 0; i < pctl_code_count(); i++) {
				if (strcmp(pctl_code_slug(pctl_code_at(i)), text) == 0)
					code = pctl_code_at(i);
			}
		}
		if (code != 0)
			print_code(app, (uint32_t)code);
		if (code != 0 && !app->json)
			printf("\n%s\n", pctl_code_explanation((uint32_t)code));
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	if (text != NULL && code == 0)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL,
				      "`pipectl explain` lists all codes", "no code \"%s\"", text);
	return PCTL_OK;
}

pctl_status pctl_verb_version(pctl_app *app)
{
	if (app->json) {
		pctl_json_kv_string(&app->document, "version", PIPECTL_VERSION);
		pctl_json_kv_string(&app->document, "semantics", "1");
		pctl_json_kv_u32(&app->document, "abi_major", PCTL_ABI_MAJOR);
		pctl_json_kv_u32(&app->document, "abi_minor", PCTL_ABI_MINOR);
	} else {
		printf("pipectl %s (semantics 1, plugin ABI %d.%d, program %d.%d)\n",
		       PIPECTL_VERSION, PCTL_ABI_MAJOR, PCTL_ABI_MINOR, PCTL_PROGRAM_MAJOR,
		       PCTL_PROGRAM_MINOR);
	}
	return PCTL_OK;
}

static void print_options(const pctl_option *options)
{
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", options[i].name,
			 options[i].value == NULL ? "" : " ",
			 options[i].value == NULL ? "" : options[i].value);
		printf("  %-32s %s%s\n", left, options[i].about,
		       options[i].many ? " (repeatable)" : "");
	}
}

static void print_usage(const pctl_verb *v)
{
	printf("usage: pipectl %s%s%s [OPTION]... %s\n\n%s\n", v->name, v->sub == NULL ? "" : " ",
	       v->sub == NULL ? "" : v->sub, v->arguments, v->about);
	if (v->detail != NULL)
		printf("\n%s\n", v->detail);
	if (v->options != NULL) {
		printf("\noptions:\n");
		print_options(v->options);
	}
}

pctl_status pctl_verb_help(pctl_app *app)
{
	const char *name = NULL, *sub = NULL;
	uint32_t n, shown = 0;
	const pctl_verb *verbs = pctl_verbs(&n);

	if (app->line.verb != NULL && strcmp(app->line.verb->name, "help") != 0) {
		name = app->line.verb->name;
		sub = app->line.verb->sub;
	} else {
		name = app->line.n_arguments > 0 ? app->line.arguments[0] : NULL;
		sub = app->line.n_arguments > 1 ? app->line.arguments[1] : NULL;
	}
	for (uint32_t i = 0; name != NULL && i < n; i++) {
		if (strcmp(verbs[i].name, name) != 0 ||
		    (sub != NULL && (verbs[i].sub == NULL || strcmp(verbs[i].sub, sub) != 0)))
			continue;
		if (shown++ != 0)
			printf("\n");
		print_usage(&verbs[i]);
	}
	if (shown != 0) {
		printf("\nglobal options:\n");
		print_options(pctl_global_options);
		return PCTL_OK;
	}
	if (name != NULL)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL, "`pipectl help` lists the verbs",
				      "no verb \"%s%s%s\"", name, sub == NULL ? "" : " ",
				      sub == NULL ? "" : sub);
	printf("usage: pipectl VERB [OPTION]... [ARGUMENT]...\n\nDeclared compute pipelines, the "
	       "same bytes on every device.\n\n");
	for (uint32_t i = 0; i < n; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s %s", verbs[i].name,
			 verbs[i].sub == NULL ? "" : " ", verbs[i].sub == NULL ? "" : verbs[i].sub,
			 verbs[i].arguments);
		printf("  %-32s %s\n", left, verbs[i].about);
	}
	printf("\nglobal options:\n");
	print_options(pctl_global_options);
	return app->line.verb == NULL && !pctl_option_has(&app->line, "--help")
		       ? pctl_refuse(app->call, PC10_USAGE, "a verb is missing")
		       : PCTL_OK;
}

/* ---- completion --------------------------------------------------------------------------- */

static void words_of(const pctl_option *options)
{
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++)
		printf(" %s", options[i].name);
}

static void complete_bash(void)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	printf("_pipectl() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} "
	       "sub=${COMP_WORDS[2]} words=\"\"\n"
	       "\tcase \"$verb $sub\" in\n");
	/* A verb without its sub-verb matches them all, so it comes last. */
	for (uint32_t k = 0; k < 2 * n; k++) {
		const pctl_verb *v = &verbs[k % n];

		if ((v->sub == NULL) != (k >= n))
			continue;
		printf("\t\"%s %s\"*) words=\"", v->name, v->sub == NULL ? "" : v->sub);
		words_of(v->options);
		words_of(pctl_global_options);
		printf("\";;\n");
	}
	printf("\tesac\n\tif [ \"$COMP_CWORD\" = 1 ]; then words=\"");
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || strcmp(verbs[i].name, verbs[i - 1].name) != 0)
			printf(" %s", verbs[i].name);
	}
	printf("\"; fi\n\tif [ \"$COMP_CWORD\" = 2 ]; then case \"$verb\" in\n");
	for (uint32_t i = 0; i < n; i++) {
		if (verbs[i].sub != NULL && (i == 0 || verbs[i - 1].sub == NULL ||
					     strcmp(verbs[i].name, verbs[i - 1].name) != 0))
			printf("\t%s) words=\"", verbs[i].name);
		if (verbs[i].sub != NULL)
			printf(" %s", verbs[i].sub);
		if (verbs[i].sub != NULL &&
		    (i + 1 == n || strcmp(verbs[i].name, verbs[i + 1].name) != 0))
			printf("\";;\n");
	}
	printf("\tesac; fi\n\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\t[ ${#COMPREPLY[@]} = 0 ] && COMPREPLY=($(compgen -f -- \"$cur\"))\n}\ncomplete "
	       "-F _pipectl pipectl\n");
}

static void complete_fish(void)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	for (uint32_t i = 0; i < n; i++) {
		const char *v = verbs[i].name, *s = verbs[i].sub;

		if (i == 0 || strcmp(v, verbs[i - 1].name) != 0)
			printf("complete -c pipectl -n __fish_use_subcommand -a %s -d '%s'\n", v,
			       s == NULL ? verbs[i].about : v);
		if (s != NULL)
			printf("complete -c pipectl -n '__fish_seen_subcommand_from %s' -a %s -d "
			       "'%s'\n",
			       v, s, verbs[i].about);
		for (uint32_t k = 0; verbs[i].options != NULL && verbs[i].options[k].name != NULL;
		     k++)
			printf("complete -c pipectl -n '__fish_seen_subcommand_from %s' -l %s -d "
			       "'%s'\n",
			       v, verbs[i].options[k].name + 2, verbs[i].options[k].about);
	}
}

pctl_status pctl_verb_completion(pctl_app *app)
{
	const char *shell = app->line.arguments[0];

	if (strcmp(shell, "bash") == 0) {
		complete_bash();
	} else if (strcmp(shell, "zsh") == 0) {
		printf("autoload -U +X bashcompinit && bashcompinit\n");
		complete_bash();
	} else if (strcmp(shell, "fish") == 0) {
		complete_fish();
	} else {
		return pctl_refuse(app->call, PC10_USAGE,
				   "completions are for bash, zsh and fish, not \"%s\"", shell);
	}
	return PCTL_OK;
}

/* ---- manual pages ------------------------------------------------------------------------- */

static void roff(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '-' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void roff_options(const pctl_option *options)
{
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++) {
		printf(".TP\n.B ");
		roff(options[i].name);
		if (options[i].value != NULL) {
			printf(" \\fI");
			roff(options[i].value);
			printf("\\fR");
		}
		printf("\n");
		roff(options[i].about);
		printf("%s\n", options[i].many ? " (repeatable)" : "");
	}
}

pctl_status pctl_verb_man(pctl_app *app)
{
	const char *name = app->line.n_arguments == 0 ? NULL : app->line.arguments[0];
	uint32_t n, shown = 0;
	const pctl_verb *verbs = pctl_verbs(&n);

	printf(".TH PIPECTL%s%s 1 \"\" \"pipectl %s\"\n.SH NAME\npipectl%s%s \\- %s\n.SH "
	       "SYNOPSIS\n",
	       name == NULL ? "" : "-", name == NULL ? "" : name, PIPECTL_VERSION,
	       name == NULL ? "" : "\\-", name == NULL ? "" : name,
	       name == NULL ? "declared compute pipelines, the same bytes on every device"
			    : "a verb of pipectl");
	for (uint32_t i = 0; i < n; i++) {
		if (name != NULL && strcmp(verbs[i].name, name) != 0)
			continue;
		shown++;
		printf(".B pipectl %s%s%s\n[option]... ", verbs[i].name,
		       verbs[i].sub == NULL ? "" : " ", verbs[i].sub == NULL ? "" : verbs[i].sub);
		roff(verbs[i].arguments);
		printf("\n.br\n");
	}
	if (shown == 0)
		return pctl_refuse_at(app->call, PC10_USAGE, NULL, "`pipectl help` lists the verbs",
				      "no verb \"%s\"", name);
	printf(".SH DESCRIPTION\n");
	for (uint32_t i = 0; i < n; i++) {
		if (name != NULL && strcmp(verbs[i].name, name) != 0)
			continue;
		printf(".SS %s%s%s\n", verbs[i].name, verbs[i].sub == NULL ? "" : " ",
		       verbs[i].sub == NULL ? "" : verbs[i].sub);
		roff(verbs[i].about);
		printf(".\n");
		if (verbs[i].detail != NULL) {
			roff(verbs[i].detail);
			printf("\n");
		}
		if (name != NULL)
			roff_options(verbs[i].options);
	}
	printf(".SH GLOBAL OPTIONS\n");
	roff_options(pctl_global_options);
	printf(".SH EXIT STATUS\n0 ok, 1 failure without a better class, 2 usage, 3 invalid "
	       "declaration or program, 4 plugin or ABI, "
	       "5 device or capability missing, 6 determinism or audit mismatch, 7 gas or budget, "
	       "8 store integrity, 9 execution "
	       "failed, 10 nothing was executed, 70 internal, 130 interrupted.\n");
	return PCTL_OK;
}
