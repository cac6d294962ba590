/* Implementation of regressions.h. */
#include "evidence/certify/regressions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "foundation/base/file.h"
#include "foundation/base/str.h"
#include "foundation/base/vec.h"

#define FILE_LIMIT (16u << 20)

typedef PCTL_VEC(const char *) line_list;

static int has(const line_list *l, const char *line)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i], line) == 0)
			return 1;
	return 0;
}

static pctl_status load_file(const char *path, pctl_arena *arena, const pctl_call *call,
			     line_list *out)
{
	pctl_regression parsed;
	char *text = NULL, *at;
	uint64_t n;
	uint32_t number = 0;
	pctl_status status = pctl_file_read(path, FILE_LIMIT, call, &text, &n);

	for (at = text; status == PCTL_OK && *at != '\0';) {
		char *line = at, *end = strchr(at, '\n');
		const char *kept;

		at = end == NULL ? at + strlen(at) : end + 1;
		if (end != NULL)
			*end = '\0';
		number++;
		if (line[0] == '\0' || line[0] == '#' || has(out, line))
			continue;
		if (!pctl_regression_parse(line, &parsed)) {
			status = pctl_refuse(call, PC5507_REGRESSION,
					     "%s:%u: not SUBJECT, LAW and INPUTS parted by tabs",
					     path, number);
			break;
		}
		kept = pctl_arena_dup(arena, line);
		if (kept == NULL || !PCTL_VEC_PUSH(out, kept))
			status = pctl_no_memory(call, "regressions");
	}
	free(text);
	return status;
}

pctl_status pctl_regressions_load(const char *const *paths, uint32_t n, pctl_arena *arena,
				  const pctl_call *call, const char *const **out, uint32_t *n_out)
{
	line_list l = {NULL, 0, 0};
	const char **kept = NULL;
	pctl_status status = PCTL_OK;

	*out = NULL;
	*n_out = 0;
	for (uint32_t i = 0; status == PCTL_OK && i < n; i++)
		if (pctl_file_exists(paths[i]))
			status = load_file(paths[i], arena, call, &l);
	if (status == PCTL_OK && l.n != 0) {
		kept = pctl_arena_array(arena, l.n, sizeof(*kept));
		if (kept == NULL)
			status = pctl_no_memory(call, "regressions");
		else
			memcpy(kept, l.items, l.n * sizeof(*kept));
	}
	if (status == PCTL_OK) {
		*out = kept;
		*n_out = l.n;
	}
	free(l.items);
	return status;
}

static pctl_status snapshot(const char *path, const char *const *lines, uint32_t n,
			    const pctl_call *call)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char temporary[4200];
	pctl_status status;

	pctl_str_add(&s, "# counterexamples that this proof tries again\n");
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(&s, "%s\n", lines[i]);
	snprintf(temporary, sizeof(temporary), "%s.%ld", path, (long)getpid());
	status = s.failed ? pctl_no_memory(call, "regressions")
			  : pctl_file_write(temporary, s.data, s.n, 1, call);
	if (status == PCTL_OK) {
		if (link(temporary, path) != 0 && errno != EEXIST)
			status = pctl_refuse(call, PC3_IO, "cannot write %s", path);
		unlink(temporary);
	}
	pctl_str_drop(&s);
	return status;
}

pctl_status pctl_regressions_of(const char *dir, const char *const *paths, uint32_t n,
				pctl_arena *arena, const pctl_call *call, const char *const **out,
				uint32_t *n_out)
{
	const char *own = pctl_arena_printf(arena, "%s/regressions.tsv", dir);
	pctl_status status;

	*out = NULL;
	*n_out = 0;
	if (own == NULL)
		return pctl_no_memory(call, "regressions");
	if (!pctl_file_exists(own)) {
		status = pctl_regressions_load(paths, n, arena, call, out, n_out);
		if (status == PCTL_OK)
			status = pctl_file_make_dirs(dir, call);
		if (status == PCTL_OK)
			status = snapshot(own, *out, *n_out, call);
		if (status != PCTL_OK)
			return status;
	}
	return pctl_regressions_load(&own, 1, arena, call, out, n_out);
}

static int is_there(const char *text, const char *line, size_t n)
{
	for (const char *at = text; (at = strstr(at, line)) != NULL; at++)
		if ((at == text || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0'))
			return 1;
	return 0;
}

pctl_status pctl_regressions_add(const char *path, const char *subject,
				 const pctl_counterexample *x, const pctl_call *call)
{
	char line[PCTL_REGRESSION_LINE + 1], *text = NULL;
	uint64_t n_text = 0;
	size_t n;
	pctl_status status;
	int fd;

	if (!pctl_regression_format(subject, x, line))
		return PCTL_OK;
	n = strlen(line);
	fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || flock(fd, LOCK_EX) != 0) {
		if (fd >= 0)
			close(fd);
		return pctl_refuse(call, PC3_IO, "cannot write %s", path);
	}
	status = pctl_file_read(path, FILE_LIMIT, call, &text, &n_text);
	if (status == PCTL_OK && !is_there(text, line, n)) {
		line[n] = '\n';
		if (write(fd, line, n + 1) != (ssize_t)(n + 1) || fsync(fd) != 0)
			status = pctl_refuse(call, PC3_IO, "cannot write %s", path);
	}
	free(text);
	close(fd);
	return status;
}
