/* Drawing progress; see progress.h and app.h. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "fold.h"
#include "foundation/base/clock.h"

#define REDRAW_NS 100000000ull /* at most ten redraws a second */
#define PLAIN_NS 10000000000ull
#define LEAST_COLUMNS 40u	/* a narrower terminal shows the beginning */
#define SETTLED_NS 500000000ull /* before that a rate says nothing */

/* ---- the words ---------------------------------------------------------------------------- */

/* Parts in the order in which they stand; `need` says which goes first where room is short (the highest). */
enum { PARTS = 12 };
typedef struct parts {
	char text[PARTS][160];
	uint32_t need[PARTS], n;
} parts;

static char *add(parts *p, uint32_t need)
{
	p->need[p->n] = need;
	return p->text[p->n++];
}

static const char *bytes_text(uint64_t n, char out[24])
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)n;
	uint32_t i = 0;

	for (; value >= 1024 && i + 1 < sizeof(names) / sizeof(names[0]); i++)
		value /= 1024;
	/* "100.0" is no more than "100" says, and a narrow line has no room for it */
	snprintf(out, 24, i == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, names[i]);
	return out;
}

static const char *time_text(uint64_t ns, char out[24])
{
	const uint64_t s = ns / 1000000000u;

	if (s < 60)
		snprintf(out, 24, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(out, 24, "%" PRIu64 " min %02" PRIu64 " s", s / 60, s % 60);
	else
		snprintf(out, 24, "%" PRIu64 " h %02" PRIu64 " min", s / 3600, s / 60 % 60);
	return out;
}

static const char *stage_text(const char *stage)
{
	static const struct {
		const char *stage, *text;
	} words[] = {{"build", "building kernels"},
		     {"verify", "verifying"},
		     {"races", "looking for races"},
		     {"measure", "measuring a size"},
		     {"prove", "proving"},
		     {"replay", "replaying"},
		     {"read", "reading"},
		     {"write", "writing"},
		     {"hash", "reading"},
		     {"collect", "collecting"}};

	for (size_t i = 0; stage != NULL && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i].stage, stage) == 0)
			return words[i].text;
	return NULL; /* running is what is expected */
}

static void add_amounts(parts *p, const pctl_progress *now)
{
	char a[24], b[24];

	if (now->unit != NULL && now->total > 1) {
		snprintf(add(p, 1), 160, "%" PRIu64 " of %" PRIu64 " %s", now->done, now->total,
			 now->unit);
		snprintf(add(p, 3), 160, "%u%%",
			 (unsigned)((double)now->done * 100 / (double)now->total));
	} else if (now->unit != NULL && now->total == 0)
		snprintf(add(p, 1), 160, "%" PRIu64 " %s", now->done, now->unit);
	if (now->total_bytes != 0)
		snprintf(add(p, 1), 160, "%s of %s", bytes_text(now->bytes, a),
			 bytes_text(now->total_bytes, b));
	else if (now->bytes != 0)
		snprintf(add(p, 2), 160, "%s", bytes_text(now->bytes, a));
	else if (now->memory_bytes != 0)
		snprintf(add(p, 8), 160, "%s on the device", bytes_text(now->memory_bytes, a));
}

static void add_times(parts *p, const pctl_progress *now)
{
	const int of_bytes = now->bytes != 0;
	const uint64_t done = of_bytes ? now->bytes : now->done;
	const uint64_t total = of_bytes && now->total_bytes != 0 ? now->total_bytes
			       : of_bytes			 ? 0
								 : now->total;
	const double seconds = (double)now->elapsed_ns * 1e-9;
	char a[24], b[24];

	if (done != 0 && now->elapsed_ns > SETTLED_NS && of_bytes)
		snprintf(add(p, 6), 160, "%s/s", bytes_text((uint64_t)((double)done / seconds), a));
	else if (done != 0 && now->elapsed_ns > SETTLED_NS && total != 1)
		snprintf(add(p, 6), 160, "%.*f %s/s", (double)done < seconds * 100 ? 1 : 0,
			 (double)done / seconds, now->unit == NULL ? "" : now->unit);
	if (done != 0 && done < total && now->elapsed_ns > SETTLED_NS)
		snprintf(add(p, 3), 160, "%s left",
			 time_text((uint64_t)((double)now->elapsed_ns * (double)(total - done) /
					      (double)done) +
					   999999999u,
				   a));
	if (now->elapsed_ns >= 1000000000u && now->limit_ns != 0)
		snprintf(add(p, 4), 160, "%s of at most %s", time_text(now->elapsed_ns, a),
			 time_text(now->limit_ns, b));
	else if (now->elapsed_ns >= 1000000000u)
		snprintf(add(p, 7), 160, "%s", time_text(now->elapsed_ns, a));
}

static void collect(parts *p, const pctl_progress *now)
{
	const char *doing = stage_text(now->stage);

	*p = (parts){.n = 0};
	if (now->device != NULL)
		snprintf(add(p, 5), 160, "%s", now->device);
	if (now->repeats > 1)
		snprintf(add(p, 4), 160, "run %" PRIu32 " of %" PRIu32, now->repeat, now->repeats);
	if (now->what != NULL && now->jobs > 1 && now->job != 0)
		snprintf(add(p, 0), 160, "job %" PRIu32 " of %" PRIu32 " %s", now->job, now->jobs,
			 now->what);
	else if (now->what != NULL)
		snprintf(add(p, 0), 160, "%s", now->what);
	if (doing != NULL)
		snprintf(add(p, 2), 160, "%s", doing);
	add_amounts(p, now);
	add_times(p, now);
}

/* ---- fitting ------------------------------------------------------------------------------ */

static size_t join(const parts *p, uint32_t most, char *out)
{
	size_t at = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < p->n; i++)
		if (p->need[i] <= most && at < PCTL_PROGRESS_TEXT)
			at += (size_t)snprintf(out + at, PCTL_PROGRESS_TEXT - at, "%s%s",
					       at == 0 ? "" : ", ", p->text[i]);
	return pctl_text_columns(out);
}

const char *pctl_progress_text(const pctl_progress *p, uint32_t columns,
			       char out[PCTL_PROGRESS_TEXT])
{
	uint32_t most = 8;
	parts all;

	collect(&all, p);
	for (uint32_t i = 0; i < all.n; i++)
		pctl_text_plain(all.text[i]);
	while (join(&all, most, out) > columns && columns != 0 && most > 0)
		most--;
	if (columns != 0)
		pctl_text_cut(out, columns);
	return out;
}

/* ---- drawing ------------------------------------------------------------------------------ */

/* The last column stays free: some terminals begin a new line with it. */
static uint32_t room(void)
{
	const uint32_t columns = pctl_columns_of(STDERR_FILENO);

	return columns == 0 ? 79 : (columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns) - 1;
}

static void draw(void *ctx, const pctl_progress *p)
{
	pctl_app *app = ctx;
	pctl_progress_line *line = &app->line_of_progress;
	const uint64_t now = pctl_clock_ns();
	const int is_line = line->how == PCTL_SHOW_LINE;
	char text[PCTL_PROGRESS_TEXT];

	if (line->how == PCTL_SHOW_NOTHING)
		return;
	if (line->drawn_ns == 0 && !is_line)
		line->drawn_ns = now; /* what is short says nothing */
	if (now - line->drawn_ns < (is_line ? REDRAW_NS : PLAIN_NS))
		return;
	line->drawn_ns = now;
	pctl_progress_text(p, is_line ? room() : 0, text);
	if (is_line)
		fprintf(stderr, "\r\033[K%s", text);
	else
		fprintf(stderr, "%s\n", text);
	fflush(stderr);
	line->is_drawn = (uint32_t)is_line;
}

void pctl_app_progress_clear(pctl_app *app)
{
	if (app->line_of_progress.is_drawn)
		fputs("\r\033[K", stderr);
	app->line_of_progress.is_drawn = 0;
}

pctl_progress_sink pctl_app_progress(pctl_app *app)
{
	return (pctl_progress_sink){draw, app};
}

/* Beside a document that goes to the same terminal a line would only be in the way. */
static uint32_t by_itself(const pctl_app *app)
{
	return isatty(STDERR_FILENO) && !(app->json && isatty(STDOUT_FILENO)) ? PCTL_SHOW_LINE
									      : PCTL_SHOW_NOTHING;
}

pctl_status pctl_app_progress_choose(pctl_app *app, const char *word)
{
	const char *given = pctl_option_value(&app->line, "--progress");
	uint32_t *how = &app->line_of_progress.how;

	if (given != NULL)
		word = given;
	if (word == NULL || strcmp(word, "auto") == 0)
		*how = by_itself(app);
	else if (strcmp(word, "always") == 0)
		*how = PCTL_SHOW_LINE;
	else if (strcmp(word, "plain") == 0)
		*how = PCTL_SHOW_PLAIN;
	else if (strcmp(word, "never") == 0)
		*how = PCTL_SHOW_NOTHING;
	else
		return pctl_refuse(app->call, PC10_USAGE,
				   "--progress takes auto, always, plain or never, not \"%s\"",
				   word);
	if (app->quiet || pctl_option_has(&app->line, "--no-progress"))
		*how = PCTL_SHOW_NOTHING;
	return PCTL_OK;
}
