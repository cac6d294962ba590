/* Words of the command line that mean something to every verb alike: `-` for standard input and output, and the beginnings of
 * CIDs. Which words these are is read off the table of options and arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/base/output.h"
#include "foundation/tensorfile/tensor_file.h"

/* 1 when one of the alternatives in `kinds` ("NAME=FILE|CID") begins with `kind`. */
static int has_kind(const char *kinds, const char *kind)
{
	const char *equals = strchr(kinds, '=');
	size_t n = strlen(kind);

	for (const char *s = equals == NULL ? kinds : equals + 1; s != NULL; s = strchr(s, '|')) {
		s += *s == '|';
		s += strspn(s, "[");
		if (strncmp(s, kind, n) == 0 && strchr("|:.] ", s[n]) != NULL)
			return 1;
	}
	return 0;
}

/* What follows NAME= where the table has that form, NULL when it does not follow. */
static const char *value_of(const pctl_given *g)
{
	const char *equals;

	if (g->value == NULL || g->option->value == NULL || strchr(g->option->value, '=') == NULL ||
	    g->option->value[0] < 'A' || g->option->value[0] > 'Z')
		return g->value;
	equals = strchr(g->value, '=');
	return equals == NULL ? NULL : equals + 1;
}

int pctl_app_is_standard_output(const char *path)
{
	return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0 ||
	       strcmp(path, "/dev/fd/1") == 0 || strcmp(path, "/proc/self/fd/1") == 0;
}

/* "-", and "-:TYPE" where a type stands behind the file. */
static int is_standard_input(const pctl_given *g, const char *path)
{
	return has_kind(g->option->value, "FILE") && path[0] == '-' &&
	       (path[1] == '\0' || (path[1] == ':' && strstr(g->option->value, "FILE:") != NULL));
}

/* What an option writes, NULL: nothing; *shared: a file that several tensors stand in, whose names the host compares. */
static char *written(const pctl_given *g, int *shared)
{
	const char *path = g->option->writes ? value_of(g) : NULL, *name;
	pctl_tensor_format format;
	char *file;
	size_t n;

	*shared = 0;
	if (path == NULL)
		return NULL;
	if (strcmp(g->option->name, "--out") != 0 || !pctl_tensor_ref_parse(path, &n, &name))
		return strdup(path);
	file = strndup(path, n);
	*shared = file != NULL && pctl_tensor_format_of(file, &format) &&
		  format != PCTL_TENSOR_FORMAT_NPY;
	return file;
}

/* No output takes the place of another. */
static pctl_status check_apart(const pctl_app *app)
{
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; i < app->line.n_given && status == PCTL_OK; i++)
		for (uint32_t k = 0; k < i && status == PCTL_OK; k++) {
			const pctl_given *a = &app->line.given[i], *b = &app->line.given[k];
			int shared[2];
			char *mine = written(a, &shared[0]), *other = written(b, &shared[1]);

			if (mine != NULL && other != NULL && !(shared[0] && shared[1]) &&
			    pctl_output_same(mine, other))
				status = pctl_refuse(app->call, PC10_USAGE,
						     "%s and %s would write the same file: %s",
						     b->option->name, a->option->name, mine);
			free(mine);
			free(other);
		}
	return status;
}

pctl_status pctl_app_check_files(pctl_app *app)
{
	uint32_t inputs = 0, outputs = 0;
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; i < app->line.n_given; i++) {
		const pctl_given *g = &app->line.given[i];
		const char *path = value_of(g);
		pctl_status status = PCTL_OK;

		if (path == NULL || g->option->value == NULL)
			continue;
		if (g->option->writes) {
			status = pctl_output_check(path, app->call);
			outputs += (uint32_t)pctl_app_is_standard_output(path);
		} else {
			inputs += (uint32_t)is_standard_input(g, path);
		}
		first = first == PCTL_OK ? status : first;
	}
	if (inputs > 1)
		return pctl_refuse(app->call, PC10_USAGE,
				   "standard input can be read once, it is given to %u options",
				   inputs);
	if (outputs > 1)
		return pctl_refuse(
			app->call, PC10_USAGE,
			"standard output can carry one output, it is given to %u options", outputs);
	if (outputs == 1 && app->json)
		return pctl_refuse(app->call, PC10_USAGE,
				   "standard output carries either the document of --json or the "
				   "bytes of an output; write the output to a file");
	if (outputs == 1)
		stdout = stderr;
	return first == PCTL_OK ? check_apart(app) : first;
}

/* ---- CIDs --------------------------------------------------------------------------------- */

/* The beginning of a CID becomes the whole; what stands before it in the word stays. A file of that name is meant where the
 * table has files, too. */
static pctl_status expand(pctl_app *app, const char *kinds, const char **word, const char *value)
{
	char text[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status;

	if (value == NULL || !pctl_cid_is_short(value) || !has_kind(kinds, "CID") ||
	    (has_kind(kinds, "FILE") && pctl_file_exists(value)))
		return PCTL_OK;
	status = pctl_installation_store(&app->host, app->call);
	if (status == PCTL_OK)
		status = pctl_store_find(app->host.store, value, app->call, &cid);
	if (status != PCTL_OK)
		return status;
	*word = pctl_arena_printf(app->arena, "%.*s%s", (int)(value - *word), *word,
				  pctl_cid_format(&cid, text));
	return *word == NULL ? pctl_no_memory(app->call, "a CID") : PCTL_OK;
}

pctl_status pctl_app_expand_cids(pctl_app *app)
{
	const char *kinds = app->line.verb->arguments;
	pctl_status status = PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < app->line.n_given; i++) {
		pctl_given *g = &app->line.given[i];

		if (g->value != NULL)
			status = expand(app, g->option->value, &g->value, value_of(g));
	}
	for (uint32_t i = 0; status == PCTL_OK && i < app->line.n_arguments; i++) {
		kinds += strspn(kinds, " ");
		status = expand(app, kinds, &app->line.arguments[i], app->line.arguments[i]);
		if (strchr(kinds, ' ') != NULL) /* the last kind is that of all that follow */
			kinds = strchr(kinds, ' ');
	}
	return status;
}
