/* Writing the log; see log.h. */
#include "foundation/diag/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "foundation/base/json.h"
#include "foundation/base/utf8.h"

#define TIME_TEXT 96

const char *const pctl_log_levels[] = {"error", "warning", "info", "debug", NULL};
const char *const pctl_log_formats[] = {"text", "json", NULL};

struct pctl_log {
	pctl_log_options o;
	char *path;
	int fd, error; /* error: errno of the first line that was lost */
};

int pctl_log_word(const char *const *words, const char *text)
{
	for (int i = 0; words[i] != NULL; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return -1;
}

pctl_status pctl_log_open(const pctl_log_options *o, const pctl_call *call, pctl_log **out)
{
	pctl_log *l = calloc(1, sizeof(*l));
	pctl_status status = PCTL_OK;
	char reason[128];

	*out = NULL;
	if (l == NULL || (l->path = strdup(o->path)) == NULL) {
		free(l);
		return pctl_no_memory(call, "the log");
	}
	l->o = *o;
	l->fd = strcmp(o->path, "-") == 0
			? STDERR_FILENO
			: open(o->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	if (l->fd < 0) {
		status = pctl_refuse(call, PC3_IO, "cannot open the log %s: %s", o->path,
				     strerror_r(errno, reason, sizeof(reason)));
		free(l->path);
		free(l);
		return status;
	}
	*out = l;
	return PCTL_OK;
}

void pctl_log_set(pctl_log *l, uint32_t level, uint32_t format)
{
	l->o.level = level;
	l->o.format = format;
}

void pctl_log_close(pctl_log *l, const pctl_call *call)
{
	char reason[128];

	if (l == NULL)
		return;
	if (l->error != 0)
		pctl_warn_at(call, PC23_OUTPUT_LOST, NULL, NULL,
			     "lines of the log %s could not be written: %s", l->path,
			     strerror_r(l->error, reason, sizeof(reason)));
	if (l->fd != STDERR_FILENO)
		close(l->fd);
	free(l->path);
	free(l);
}

/* ---- lines -------------------------------------------------------------------------------- */

static const char *time_text(char out[TIME_TEXT])
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	snprintf(out, TIME_TEXT, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", tm.tm_year + 1900,
		 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(now.tv_nsec / 1000000));
	return out;
}

/* Text as it is, but what would end the line, drive a terminal or be no UTF-8 as \n, \t, \xNN. */
static void add_plain(pctl_str_buf *s, const char *text)
{
	size_t n = strlen(text);

	while (n > 0) {
		const size_t good = pctl_utf8_bad(text, n, PCTL_UTF8_PLAIN);

		pctl_str_add_n(s, text, good);
		if (good == n)
			return;
		if (text[good] == '\n' || text[good] == '\t')
			pctl_str_add(s, text[good] == '\n' ? "\\n" : "\\t");
		else
			pctl_str_addf(s, "\\x%02x", (unsigned char)text[good]);
		text += good + 1;
		n -= good + 1;
	}
}

static void add_value(pctl_str_buf *s, const char *value)
{
	const int quoted = value[0] == '\0' || value[strcspn(value, " \"=")] != '\0';

	if (!quoted) {
		add_plain(s, value);
		return;
	}
	pctl_str_add(s, "\"");
	for (size_t n; *value != '\0'; value += n) {
		char *part;

		n = strcspn(value, "\"\\");
		part = strndup(value, n);
		if (part != NULL)
			add_plain(s, part);
		free(part);
		if (value[n] != '\0') {
			pctl_str_addf(s, "\\%c", value[n]);
			n++;
		}
	}
	pctl_str_add(s, "\"");
}

static char *text_line(uint32_t level, const char *component, const char *message,
		       const pctl_log_field *fields, uint32_t n)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	char now[TIME_TEXT];

	pctl_str_addf(&s, "%s %s ", time_text(now), pctl_log_levels[level]);
	add_plain(&s, component);
	pctl_str_add(&s, ": ");
	add_plain(&s, message);
	for (uint32_t i = 0; i < n; i++) {
		if (fields[i].value == NULL)
			continue;
		pctl_str_addf(&s, " %s=", fields[i].key);
		add_value(&s, fields[i].value);
	}
	pctl_str_add(&s, "\n");
	return pctl_str_finish(&s);
}

static char *json_line(uint32_t level, const char *component, const char *message,
		       const pctl_log_field *fields, uint32_t n)
{
	char now[TIME_TEXT];
	pctl_json j;

	pctl_json_init(&j, 0);
	pctl_json_object_begin(&j);
	pctl_json_kv_string(&j, "time", time_text(now));
	pctl_json_kv_string(&j, "level", pctl_log_levels[level]);
	pctl_json_kv_string(&j, "component", component);
	pctl_json_kv_string(&j, "message", message);
	pctl_json_key(&j, "fields");
	pctl_json_object_begin(&j);
	for (uint32_t i = 0; i < n; i++)
		if (fields[i].value != NULL)
			pctl_json_kv_string(&j, fields[i].key, fields[i].value);
	pctl_json_object_end(&j);
	pctl_json_object_end(&j);
	return pctl_json_finish(&j);
}

/* One write a line, so that lines of several processes do not mix. */
static void put(pctl_log *l, const char *line)
{
	size_t n = strlen(line);

	if (l->fd == STDERR_FILENO && l->o.before != NULL)
		l->o.before(l->o.ctx);
	while (n > 0) {
		const ssize_t wrote = write(l->fd, line, n);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0) {
			l->error = l->error == 0 ? errno : l->error;
			return;
		}
		line += wrote;
		n -= (size_t)wrote;
	}
}

void pctl_log_write(pctl_log *l, uint32_t level, const char *component, const char *message,
		    const pctl_log_field *fields, uint32_t n)
{
	char *line;

	if (l == NULL || level > l->o.level)
		return;
	line = l->o.format == PCTL_LOG_JSON ? json_line(level, component, message, fields, n)
					    : text_line(level, component, message, fields, n);
	if (line == NULL)
		l->error = l->error == 0 ? ENOMEM : l->error;
	else
		put(l, line);
	free(line);
}

void pctl_log_diag(pctl_log *l, const pctl_diag *d)
{
	char code[16], *at = NULL;
	pctl_log_field fields[] = {{"code", code}, {"name", pctl_code_slug(d->code)}, {"at", NULL}};

	if (l == NULL)
		return;
	snprintf(code, sizeof(code), "PC%04" PRIu32, d->code);
	if (d->pos.file != NULL &&
	    asprintf(&at, "%s:%" PRIu32 ":%" PRIu32, d->pos.file, d->pos.line, d->pos.column) >= 0)
		fields[2].value = at;
	pctl_log_write(l,
		       d->severity == PCTL_SEVERITY_ERROR     ? PCTL_LOG_ERROR
		       : d->severity == PCTL_SEVERITY_WARNING ? PCTL_LOG_WARNING
							      : PCTL_LOG_INFO,
		       d->plugin == NULL ? "pipectl" : d->plugin,
		       d->message == NULL ? "" : d->message, fields, 3);
	free(at);
}
