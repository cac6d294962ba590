/* Parsing a command line by the option table. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"

int pctl_verb_has_subs(const char *name)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(verbs[i].name, name) == 0 && verbs[i].sub != NULL)
			return 1;
	}
	return 0;
}

const pctl_verb *pctl_verb_find(const char *name, const char *sub)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(verbs[i].name, name) != 0 || (verbs[i].sub == NULL) != (sub == NULL))
			continue;
		if (sub == NULL || strcmp(verbs[i].sub, sub) == 0)
			return &verbs[i];
	}
	return NULL;
}

/* verb: whose names they are, NULL: the program's own. */
static pctl_status unknown(const pctl_call *call, const char *what, const char *word,
			   const char *const *names, uint32_t n, const char *verb)
{
	/* Of one letter any other is near. */
	const char *nearest =
		strlen(word + strspn(word, "-")) < 2 ? NULL : pctl_str_nearest(word, names, n);
	char hint[160];

	if (nearest != NULL)
		snprintf(hint, sizeof(hint), "did you mean %s?", nearest);
	else if (verb != NULL)
		snprintf(hint, sizeof(hint), "`pipectl help %s` lists what there is", verb);
	else
		snprintf(hint, sizeof(hint), "`pipectl help` lists what there is");
	return pctl_refuse_at(call, PC10_USAGE, NULL, hint, "no %s \"%s\"", what, word);
}

/* `pipectl put`: the verbs that have a sub-verb of that name, in out; 0: none. */
static size_t verbs_with_sub(const char *sub, char *out, size_t size)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);
	size_t at = 0;

	for (uint32_t i = 0; i < n && at < size; i++)
		if (verbs[i].sub != NULL && strcmp(verbs[i].sub, sub) == 0)
			at += (size_t)snprintf(out + at, size - at, "%s%s %s",
					       at == 0 ? "did you mean " : " or ", verbs[i].name,
					       sub);
	if (at != 0 && at < size)
		at += (size_t)snprintf(out + at, size - at, "?");
	return at;
}

pctl_status pctl_verb_unknown(const pctl_call *call, const char *name, const char *sub)
{
	const char *names[128];
	char hint[256];
	uint32_t n, count = 0;
	const pctl_verb *verbs = pctl_verbs(&n);

	if (sub == NULL && verbs_with_sub(name, hint, sizeof(hint)) != 0)
		return pctl_refuse_at(call, PC10_USAGE, NULL, hint, "no verb \"%s\"", name);
	for (uint32_t i = 0; i < n && count < 128; i++) {
		if (sub == NULL)
			names[count++] = verbs[i].name;
		else if (strcmp(verbs[i].name, name) == 0 && verbs[i].sub != NULL)
			names[count++] = verbs[i].sub;
	}
	if (sub != NULL && count == 0) {
		if (pctl_verb_find(name, NULL) == NULL)
			return pctl_verb_unknown(call, name, NULL);
		snprintf(hint, sizeof(hint), "`pipectl help %s` says all of it", name);
		return pctl_refuse_at(call, PC10_USAGE, NULL, hint, "`pipectl %s` has no sub-verbs",
				      name);
	}
	return unknown(call, sub == NULL ? "verb" : "sub-verb", sub == NULL ? name : sub, names,
		       count, sub == NULL ? NULL : name);
}

/* `pipectl cas`: which sub-verbs there are. */
static pctl_status missing_sub(const pctl_call *call, const char *name)
{
	uint32_t n, found = 0;
	const pctl_verb *verbs = pctl_verbs(&n);
	char hint[256];
	size_t at = 0;

	for (uint32_t i = 0; i < n && at < sizeof(hint); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			at += (size_t)snprintf(hint + at, sizeof(hint) - at, "%s%s",
					       found++ == 0 ? "one of " : ", ", verbs[i].sub);
	}
	return pctl_refuse_at(call, PC10_USAGE, NULL, hint, "`pipectl %s` wants a sub-verb", name);
}

const pctl_option *pctl_option_find(const pctl_option *options, const char *name, size_t n)
{
	for (uint32_t i = 0; options != NULL && options[i].name != NULL; i++) {
		if (strlen(options[i].name) == n && memcmp(options[i].name, name, n) == 0)
			return &options[i];
	}
	return NULL;
}

/* 1 when a verb has the option, which is no mistake in the name then but in the place. */
static int somebody_has(const char *word)
{
	uint32_t n;
	const pctl_verb *verbs = pctl_verbs(&n);

	for (uint32_t i = 0; i < n; i++) {
		if (pctl_option_find(verbs[i].options, word, strcspn(word, "=")) != NULL)
			return 1;
	}
	return 0;
}

static pctl_status unknown_option(const pctl_call *call, const pctl_verb *verb, const char *word)
{
	const char *names[128];
	char name[256], whole[64];
	uint32_t n = 0;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (uint32_t i = 0;
	     verb != NULL && verb->options != NULL && verb->options[i].name != NULL && n < 128; i++)
		names[n++] = verb->options[i].name;
	for (uint32_t i = 0; pctl_global_options[i].name != NULL && n < 128; i++)
		names[n++] = pctl_global_options[i].name;
	if (verb == NULL && somebody_has(word))
		return pctl_refuse_at(call, PC10_USAGE, NULL, "write it behind the verb",
				      "option \"%s\" belongs to a verb, and stands before it",
				      word);
	snprintf(whole, sizeof(whole), "%s%s%s", verb == NULL ? "" : verb->name,
		 verb == NULL || verb->sub == NULL ? "" : " ",
		 verb == NULL || verb->sub == NULL ? "" : verb->sub);
	return unknown(call, "option", name, names, n, verb == NULL ? NULL : whole);
}

/* One option at argv[*i]; values follow as "--x=V" or "--x V". */
static pctl_status take_option(int argc, char **argv, int *i, const pctl_call *call,
			       pctl_command_line *out)
{
	const char *word = argv[*i], *equals = strchr(word, '=');
	size_t n = equals == NULL ? strlen(word) : (size_t)(equals - word);
	const pctl_option *option = pctl_option_find(pctl_global_options, word, n);
	pctl_given *given = &out->given[out->n_given];

	if (option == NULL && out->verb != NULL)
		option = pctl_option_find(out->verb->options, word, n);
	if (option == NULL)
		return unknown_option(call, out->verb, word);
	if (strcmp(option->name, "-h") == 0)
		option = pctl_option_find(pctl_global_options, "--help", 6);
	*given = (pctl_given){option, NULL};
	if (option->value == NULL && equals != NULL)
		return pctl_refuse(call, PC10_USAGE, "%s takes no value", option->name);
	if (option->value != NULL) {
		given->value = equals != NULL ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
		if (given->value == NULL)
			return pctl_refuse(call, PC10_USAGE, "%s wants %s", option->name,
					   option->value);
	}
	for (uint32_t k = 0; k < out->n_given; k++) {
		if (out->given[k].option == option && !option->many && option->value != NULL)
			return pctl_refuse(call, PC10_USAGE, "%s is given twice", option->name);
	}
	out->n_given++;
	return PCTL_OK;
}

/* Too many, the first of which is named, or too few. */
static pctl_status wrong_arguments(const pctl_command_line *c, const pctl_call *call)
{
	const pctl_verb *v = c->verb;
	const char *sub = v->sub == NULL ? "" : v->sub, *blank = v->sub == NULL ? "" : " ",
		   *before = v->arguments[0] == '\0' ? "" : " ";

	if (c->n_arguments > v->most)
		return pctl_refuse_at(call, PC10_USAGE, NULL, v->example,
				      "\"%.100s\" is one argument too many; usage: pipectl %s%s%s "
				      "[OPTION]...%s%s",
				      c->arguments[v->most], v->name, blank, sub, before,
				      v->arguments);
	return pctl_refuse_at(call, PC10_USAGE, NULL, v->example,
			      "usage: pipectl %s%s%s [OPTION]...%s%s", v->name, blank, sub, before,
			      v->arguments);
}

pctl_status pctl_command_line_parse(int argc, char **argv, const pctl_call *call,
				    pctl_command_line *out)
{
	const char *name = NULL;
	int only_arguments = 0;
	pctl_status status = PCTL_OK;

	memset(out, 0, sizeof(*out));
	out->arguments = calloc((size_t)argc + 1, sizeof(*out->arguments));
	out->given = calloc((size_t)argc + 1, sizeof(*out->given));
	if (out->arguments == NULL || out->given == NULL)
		return pctl_no_memory(call, "the command line");
	for (int i = 1; status == PCTL_OK && i < argc; i++) {
		const char *word = argv[i];

		/* `certify --ops ..` and `audit FILE`: what follows a verb that has sub-verbs and can do without. */
		if (out->verb == NULL && name != NULL && pctl_verb_find(name, word) == NULL)
			out->verb = pctl_verb_find(name, NULL);
		if (!only_arguments && strcmp(word, "--") == 0) {
			only_arguments = 1;
		} else if (!only_arguments && word[0] == '-' && word[1] != '\0') {
			status = take_option(argc, argv, &i, call, out);
		} else if (out->verb == NULL && name == NULL && pctl_verb_has_subs(word)) {
			name = word;
		} else if (out->verb == NULL) {
			out->verb = name == NULL ? pctl_verb_find(word, NULL)
						 : pctl_verb_find(name, word);
			if (out->verb == NULL)
				status = pctl_verb_unknown(call, name == NULL ? word : name,
							   name == NULL ? NULL : word);
		} else {
			out->arguments[out->n_arguments++] = word;
		}
	}
	if (status == PCTL_OK && out->verb == NULL && name != NULL &&
	    (pctl_option_has(out, "--help") || pctl_option_has(out, "--version"))) {
		out->group = name; /* `cas --help`, `certify --version`: all that begins so */
		return PCTL_OK;
	}
	if (status == PCTL_OK && out->verb == NULL && name != NULL)
		out->verb = pctl_verb_find(name, NULL);
	if (status == PCTL_OK && out->verb == NULL && name != NULL)
		return missing_sub(call, name);
	if (status == PCTL_OK && out->verb != NULL && !pctl_option_has(out, "--help") &&
	    !pctl_option_has(out, "--version") &&
	    (out->n_arguments < out->verb->least || out->n_arguments > out->verb->most))
		return wrong_arguments(out, call);
	return status;
}

void pctl_command_line_clear(pctl_command_line *c)
{
	free(c->arguments);
	free(c->given);
	memset(c, 0, sizeof(*c));
}

const char *pctl_option_value(const pctl_command_line *c, const char *name)
{
	const char *value = NULL;

	for (uint32_t i = 0; i < c->n_given; i++) {
		if (strcmp(c->given[i].option->name, name) == 0)
			value = c->given[i].value;
	}
	return value;
}

int pctl_option_has(const pctl_command_line *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_given; i++) {
		if (strcmp(c->given[i].option->name, name) == 0)
			return 1;
	}
	return 0;
}

const char *pctl_option_at(const pctl_command_line *c, const char *name, uint32_t n)
{
	for (uint32_t i = 0; i < c->n_given; i++) {
		if (strcmp(c->given[i].option->name, name) == 0 && n-- == 0)
			return c->given[i].value;
	}
	return NULL;
}
