/* `fmt`: files in their canonical layout. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/conf/conf.h"
#include "foundation/conf/format.h"

static void report(pctl_app *app, const char *path, int changed)
{
	if (app->json) {
		pctl_json_object_begin(&app->document);
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_bool(&app->document, "changed", changed);
		pctl_json_object_end(&app->document);
	} else if (changed && !app->quiet) {
		printf("%s\n", path);
	}
}

static pctl_status format_file(pctl_app *app, const char *path)
{
	const int check = pctl_option_has(&app->line, "--check"), is_stdin = strcmp(path, "-") == 0;
	char *text = NULL, *laid_out = NULL;
	uint64_t n = 0;
	size_t n_out = 0;
	int changed;
	pctl_status status = pctl_file_read(path, PCTL_CONF_FILE_BYTES_MAX, app->call, &text, &n);

	if (status == PCTL_OK)
		status = pctl_conf_format(path, text, (size_t)n, app->call, &laid_out, &n_out);
	if (status != PCTL_OK)
		goto out;
	changed = n_out != n || memcmp(text, laid_out, n_out) != 0;
	if (is_stdin && !check) {
		fwrite(laid_out, 1, n_out, stdout);
		goto out;
	}
	report(app, path, changed);
	if (changed && check)
		status = pctl_refuse_at(app->call, PC1027_CONF_LAYOUT, NULL,
					"run `pipectl fmt` on it", "%s is not in canonical layout",
					path);
	else if (changed)
		status = pctl_file_write(path, laid_out, n_out, 1, app->call);
out:
	free(text);
	free(laid_out);
	return status;
}

pctl_status pctl_verb_fmt(pctl_app *app)
{
	pctl_status first = PCTL_OK;

	for (uint32_t i = 0; app->json && i < app->line.n_arguments; i++) {
		if (strcmp(app->line.arguments[i], "-") == 0 &&
		    !pctl_option_has(&app->line, "--check"))
			return pctl_refuse(app->call, PC10_USAGE,
					   "standard output carries either the document of --json "
					   "or the text; "
					   "with --json lay out files, or use --check");
	}
	if (app->json) {
		pctl_json_key(&app->document, "files");
		pctl_json_array_begin(&app->document);
	}
	for (uint32_t i = 0; i < app->line.n_arguments; i++) {
		pctl_status status = format_file(app, app->line.arguments[i]);

		first = first == PCTL_OK ? status : first;
	}
	if (app->json)
		pctl_json_array_end(&app->document);
	return first;
}
