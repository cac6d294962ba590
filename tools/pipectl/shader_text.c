/* The text of a shader as it runs and is uploaded: its file, and behind it the helpers that --with names. They come
 * last, so that the lines of the file keep their numbers and its metadata stands at the top. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "shader_text.h"

#define SUFFIX ".wgsl"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* "available: fixed", from the directory; NULL without memory or directory. */
static char *available(pctl_app *app, const char *dir)
{
	const char *names[64];
	pctl_str_buf text = {0};
	uint32_t n = 0;
	DIR *d = opendir(dir);

	if (d == NULL)
		return NULL;
	for (struct dirent *e = readdir(d); e != NULL && n < 64; e = readdir(d)) {
		const char *end = strstr(e->d_name, SUFFIX);
		char *name = end == NULL ? NULL
					 : pctl_arena_dup_n(app->arena, e->d_name,
							    (size_t)(end - e->d_name));

		if (name != NULL)
			names[n++] = name;
	}
	closedir(d);
	qsort(names, n, sizeof(*names), by_name);
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(&text, "%s%s", i == 0 ? "available: " : ", ", names[i]);
	return pctl_str_finish(&text);
}

static pctl_status append(pctl_app *app, const char *name, char **text, uint64_t *n)
{
	const char *dir = pctl_arena_printf(app->arena, "%s/wgsl", app->host.config->conf_dir);
	const char *path = pctl_arena_printf(app->arena, "%s/%s" SUFFIX, dir ? dir : "", name);
	char *more = NULL, *both, *hint;
	uint64_t n_more = 0;
	pctl_status status;

	if (path == NULL)
		return pctl_no_memory(app->call, "a path");
	if (strchr(name, '/') != NULL || !pctl_file_exists(path)) {
		hint = available(app, dir);
		status = pctl_refuse_at(app->call, PC6104_SHADER_WITH, NULL, hint,
					"no helper \"%s\"", name);
		free(hint);
		return status;
	}
	status = pctl_file_read(path, PCTL_SHADER_TEXT_MAX, app->call, &more, &n_more);
	both = status == PCTL_OK ? realloc(*text, *n + n_more + 1) : NULL;
	if (both != NULL) {
		memcpy(both + *n, more, n_more + 1);
		*text = both;
		*n += n_more;
	} else if (status == PCTL_OK) {
		status = pctl_no_memory(app->call, "a shader");
	}
	free(more);
	return status;
}

pctl_status pctl_app_shader_text(pctl_app *app, const char *path, char **out, uint64_t *n_out)
{
	const char *with = pctl_option_value(&app->line, "--with");
	pctl_status status =
		with == NULL ? PCTL_OK : pctl_installation_config(&app->host, app->call);

	*out = NULL;
	*n_out = 0;
	if (status == PCTL_OK && with != NULL && app->host.config->conf_dir == NULL)
		return pctl_refuse(app->call, PC6104_SHADER_WITH,
				   "no configuration to take \"%s\" from", with);
	if (status == PCTL_OK)
		status = pctl_file_read(path, PCTL_SHADER_TEXT_MAX, app->call, out, n_out);
	if (status == PCTL_OK && with != NULL)
		status = append(app, with, out, n_out);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
		*n_out = 0;
	}
	return status;
}
