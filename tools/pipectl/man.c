/* The manual pages of section 1, from the table of verbs. */
#include <stdio.h>
#include <string.h>

#include "app.h"

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

/* What stands behind the name, for whatis and apropos: what the verb does, or each of its sub-verbs. */
static void print_name(const char *name)
{
	uint32_t n, shown = 0;
	const pctl_verb *verbs = pctl_verbs(&n);

	if (name == NULL)
		printf("declared compute pipelines, the same bytes on every device");
	for (uint32_t i = 0; name != NULL && i < n; i++) {
		if (strcmp(verbs[i].name, name) != 0)
			continue;
		printf("%s", shown++ == 0 ? "" : "; ");
		if (verbs[i].sub != NULL)
			printf("%s: ", verbs[i].sub);
		roff(verbs[i].about);
	}
}

pctl_status pctl_verb_man(pctl_app *app)
{
	const char *name = app->line.n_arguments == 0 ? NULL : app->line.arguments[0];
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	if (name != NULL && pctl_verb_find(name, NULL) == NULL && !pctl_verb_has_subs(name))
		return pctl_verb_unknown(app->call, name, NULL);
	printf(".TH PIPECTL%s%s 1 \"\" \"pipectl %s\"\n.SH NAME\npipectl%s%s \\- ",
	       name == NULL ? "" : "-", name == NULL ? "" : name, PIPECTL_VERSION,
	       name == NULL ? "" : "\\-", name == NULL ? "" : name);
	print_name(name);
	printf("\n.SH SYNOPSIS\n");
	for (uint32_t i = 0; i < n; i++) {
		if (name != NULL && strcmp(verbs[i].name, name) != 0)
			continue;
		printf(".B pipectl %s%s%s\n[option]... ", verbs[i].name,
		       verbs[i].sub == NULL ? "" : " ", verbs[i].sub == NULL ? "" : verbs[i].sub);
		roff(verbs[i].arguments);
		printf("\n.br\n");
	}
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
		if (name == NULL)
			continue;
		roff_options(verbs[i].options);
		printf(".PP\nExample:\n.RS\n");
		roff(verbs[i].example);
		printf("\n.RE\n");
	}
	printf(".SH GLOBAL OPTIONS\n");
	roff_options(pctl_global_options);
	printf(".SH EXIT STATUS\n");
	for (const pctl_exit_code *e = pctl_exit_codes; e->meaning != NULL; e++) {
		printf(".TP\n%d\n", e->status);
		roff(e->meaning);
		printf("\n");
	}
	return PCTL_OK;
}
