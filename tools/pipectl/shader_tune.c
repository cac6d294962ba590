/* Printing what `shader tune` found: the dispatch, its limit, the lines and blocks with their counts, the compiler's remarks. */
#include "shader_tune.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/svg/amount.h"

static const char *clock_name(const pctl_tune_time *t)
{
	return t->is_device ? "device" : "host";
}

/* What moving the least bytes takes at the speed of the copy; 0: that is not known. */
static uint64_t floor_ns(const pctl_tune_result *r)
{
	return r->copy_bytes == 0 || r->counted_by == NULL
		       ? 0
		       : (uint64_t)((double)r->least_bytes * (double)r->copy.median_ns /
				    (double)r->copy_bytes);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_time(pctl_json *j, const char *key, const pctl_tune_time *t)
{
	pctl_json_key(j, key);
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "clock", clock_name(t));
	pctl_json_kv_string(j, "why", t->why);
	pctl_json_kv_u32(j, "rounds", t->rounds);
	pctl_json_kv_u64(j, "median_ns", t->median_ns);
	pctl_json_kv_u64(j, "least_ns", t->least_ns);
	pctl_json_kv_u64(j, "most_ns", t->most_ns);
	pctl_json_object_end(j);
}

static void json_tally(pctl_json *j, const pctl_tally *t)
{
	pctl_json_kv_u64(j, "runs", t->runs);
	pctl_json_kv_u64(j, "integer", t->integer);
	pctl_json_kv_u64(j, "floats", t->floats);
	pctl_json_kv_u64(j, "slow", t->slow);
	pctl_json_kv_u64(j, "loads", t->loads);
	pctl_json_kv_u64(j, "stores", t->stores);
	pctl_json_kv_u64(j, "atomics", t->atomics);
	pctl_json_kv_u64(j, "barriers", t->barriers);
	pctl_json_kv_u64(j, "read_bytes", t->read_bytes);
	pctl_json_kv_u64(j, "write_bytes", t->write_bytes);
	pctl_json_kv_u64(j, "shared_bytes", t->shared_bytes);
}

static void json_sizes(pctl_json *j, const char *key, const uint32_t n[3])
{
	pctl_json_key(j, key);
	pctl_json_array_begin(j);
	for (uint32_t i = 0; i < 3; i++)
		pctl_json_u32(j, n[i]);
	pctl_json_array_end(j);
}

static void json_head(pctl_json *j, const char *path, const pctl_tune_result *r)
{
	pctl_json_kv_string(j, "file", path);
	pctl_json_kv_string(j, "entry", r->entry);
	pctl_json_kv_string(j, "device", r->device);
	json_sizes(j, "workgroup_size", r->workgroup);
	json_sizes(j, "groups", r->groups);
	pctl_json_kv_u64(j, "invocations", r->invocations);
	pctl_json_kv_bool(j, "compared", (int)r->compared);
	json_time(j, "time", &r->time);
	if (r->copy_bytes != 0) {
		pctl_json_kv_u64(j, "copy_bytes", r->copy_bytes);
		json_time(j, "copy", &r->copy);
	} else {
		pctl_json_kv_string(j, "copy_why", r->copy_why);
	}
	pctl_json_kv_string(j, "counted_by", r->counted_by);
	if (r->counted_by == NULL)
		return;
	pctl_json_kv_u64(j, "least_bytes", r->least_bytes);
	pctl_json_kv_u64(j, "floor_ns", floor_ns(r));
	pctl_json_key(j, "total");
	pctl_json_object_begin(j);
	json_tally(j, &r->total);
	pctl_json_object_end(j);
	pctl_json_key(j, "elsewhere");
	pctl_json_object_begin(j);
	json_tally(j, &r->elsewhere);
	pctl_json_object_end(j);
}

/* ---- text ---------------------------------------------------------------------------------- */

static void print_time(const char *what, const pctl_tune_time *t)
{
	char median[PCTL_SHOWN], least[PCTL_SHOWN], most[PCTL_SHOWN];

	printf("%-8s %s by the %s's clock, median of %" PRIu32 " (%s to %s)\n", what,
	       pctl_show_ns(t->median_ns, median), clock_name(t), t->rounds,
	       pctl_show_ns(t->least_ns, least), pctl_show_ns(t->most_ns, most));
	if (t->why != NULL)
		printf("%-8s %s\n", "", t->why);
}

static void print_limit(const pctl_tune_result *r)
{
	const uint64_t least_ns = floor_ns(r);
	char bytes[PCTL_SHOWN], ns[PCTL_SHOWN];

	if (r->copy_bytes == 0) {
		printf("copy     not measured: %s\n", r->copy_why);
		return;
	}
	printf("copy     %.3g GB/s (%s in %s by the %s's clock)\n",
	       (double)r->copy_bytes / (double)(r->copy.median_ns ? r->copy.median_ns : 1),
	       pctl_show_bytes(r->copy_bytes, bytes), pctl_show_ns(r->copy.median_ns, ns),
	       clock_name(&r->copy));
	if (r->counted_by == NULL)
		return;
	printf("limit    %s move at least, %s at the speed of the copy: %.2g of the time\n",
	       pctl_show_bytes(r->least_bytes, bytes), pctl_show_ns(least_ns, ns),
	       (double)least_ns / (double)(r->time.median_ns ? r->time.median_ns : 1));
}

static void print_head(const char *path, const pctl_tune_result *r)
{
	const pctl_tally *t = &r->total;

	printf("%s: %s, %" PRIu32 "x%" PRIu32 "x%" PRIu32 " invocations in each of %" PRIu32
	       "x%" PRIu32 "x%" PRIu32 " workgroups, on %s\n",
	       path, r->entry, r->workgroup[0], r->workgroup[1], r->workgroup[2], r->groups[0],
	       r->groups[1], r->groups[2], r->device);
	print_time("time", &r->time);
	print_limit(r);
	if (!r->compared)
		printf("bytes    not compared: class approximate, or native floats\n");
	if (r->counted_by == NULL)
		return;
	printf("counts   by %s: %" PRIu64 " invocations, %" PRIu64 " integer, %" PRIu64
	       " float and %" PRIu64 " slow operations, %" PRIu64 " bytes read, %" PRIu64
	       " written\n",
	       r->counted_by, r->invocations, t->integer, t->floats, t->slow, t->read_bytes,
	       t->write_bytes);
}

/* ---- lists --------------------------------------------------------------------------------- */

/* Line `line` of the text, without what it begins with. */
static const char *line_of(pctl_app *app, const struct shader_options *o, uint32_t line)
{
	const char *at = o->text, *end = o->text + o->n_text, *stop, *copy;

	for (uint32_t i = 1; i < line && at != NULL; i++) {
		at = memchr(at, '\n', (size_t)(end - at));
		at = at == NULL ? NULL : at + 1;
	}
	if (at == NULL || at >= end)
		return "";
	stop = memchr(at, '\n', (size_t)(end - at));
	if (stop == NULL)
		stop = end;
	while (at < stop && (*at == ' ' || *at == '\t'))
		at++;
	copy = pctl_arena_dup_n(app->arena, at, (size_t)(stop - at));
	return copy == NULL ? "" : copy;
}

/* A person wants few columns: what is apart in the document stands together. */
static void cells(pctl_app *app, const pctl_tally *t)
{
	const uint64_t numbers[] = {t->runs,
				    t->integer + t->floats + t->slow,
				    t->slow,
				    t->loads + t->stores + t->atomics,
				    t->read_bytes + t->write_bytes,
				    t->shared_bytes};

	for (size_t i = 0; i < PCTL_COLUMNS(numbers); i++)
		pctl_table_cell(app->table, "%" PRIu64, numbers[i]);
}

#define TALLY_COLUMNS                                                                            \
	{"runs", " ", -10}, {"operations", " ", -10}, {"slow", " ", -8}, {"accesses", " ", -10}, \
		{"bytes", " ", -12},                                                             \
	{                                                                                        \
		"shared", " ", -12                                                               \
	}

/* Numbers without heads say nothing, to a script's author either. */
static void list_begin(pctl_app *app, const char *key, const pctl_column *columns, uint32_t n)
{
	if (app->json)
		pctl_app_list_begin(app, key, columns, n);
	else
		app->table = pctl_table_begin(columns, n, PCTL_TABLE_HEADS);
}

static pctl_status list_lines(pctl_app *app, const struct shader_options *o,
			      const pctl_tune_result *r)
{
	static const pctl_column columns[] = {{"line", "", -5}, TALLY_COLUMNS, {"text", "  ", 0}};
	pctl_json *j = &app->document;

	list_begin(app, "lines", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < r->n_lines; i++) {
		const char *text = line_of(app, o, r->lines[i].line);

		if (app->json) {
			pctl_json_object_begin(j);
			pctl_json_kv_u32(j, "line", r->lines[i].line);
			json_tally(j, &r->lines[i].tally);
			pctl_json_kv_string(j, "text", text);
			pctl_json_object_end(j);
			continue;
		}
		pctl_table_cell(app->table, "%" PRIu32, r->lines[i].line);
		cells(app, &r->lines[i].tally);
		pctl_table_cell(app->table, "%s", text);
	}
	return pctl_app_list_end(app, PCTL_OK);
}

static pctl_status list_blocks(pctl_app *app, const pctl_tune_result *r)
{
	static const pctl_column columns[] = {{"block", "", -5}, TALLY_COLUMNS, {"lines", "  ", 0}};
	pctl_json *j = &app->document;

	list_begin(app, "blocks", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < r->n_blocks; i++) {
		const pctl_tune_block *b = &r->blocks[i];

		if (app->json) {
			pctl_json_object_begin(j);
			pctl_json_kv_u32(j, "block", i);
			pctl_json_kv_string(j, "function", b->function);
			pctl_json_kv_u32(j, "first_line", b->first_line);
			pctl_json_kv_u32(j, "last_line", b->last_line);
			json_tally(j, &b->tally);
			pctl_json_object_end(j);
			continue;
		}
		pctl_table_cell(app->table, "%" PRIu32, i);
		cells(app, &b->tally);
		pctl_table_cell(app->table, "%s %" PRIu32 "-%" PRIu32, b->function, b->first_line,
				b->last_line);
	}
	return pctl_app_list_end(app, PCTL_OK);
}

static pctl_status list_remarks(pctl_app *app, const char *path, const pctl_tune_result *r)
{
	static const pctl_column columns[] = {{"place", "", 0}, {"remark", ": ", 0}};
	pctl_json *j = &app->document;

	pctl_app_list_begin(app, "remarks", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < r->n_remarks; i++) {
		const pctl_tune_remark *m = &r->remarks[i];

		if (app->json) {
			pctl_json_object_begin(j);
			pctl_json_kv_string(j, "kind", m->kind);
			pctl_json_kv_u32(j, "line", m->line);
			pctl_json_kv_u32(j, "column", m->column);
			pctl_json_kv_string(j, "text", m->text);
			pctl_json_object_end(j);
			continue;
		}
		if (m->line != 0)
			pctl_table_cell(app->table, "%s:%" PRIu32 ":%" PRIu32, path, m->line,
					m->column);
		else
			pctl_table_cell(app->table, "%s", path);
		pctl_table_cell(app->table, "%s", m->text);
	}
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_shader_tune_print(pctl_app *app, const char *path, const struct shader_options *o,
				   const pctl_tune_result *r)
{
	pctl_status status = PCTL_OK;

	if (app->json)
		json_head(&app->document, path, r);
	else
		print_head(path, r);
	if (r->counted_by != NULL)
		status = list_lines(app, o, r);
	if (status == PCTL_OK && r->counted_by != NULL && pctl_option_has(&app->line, "--blocks"))
		status = list_blocks(app, r);
	return status == PCTL_OK ? list_remarks(app, path, r) : status;
}

/* ---- a sweep ------------------------------------------------------------------------------- */

struct way {
	const char *name;
	const pctl_tune_result *result;
	uint32_t number;
};

/* By time; of those that took as long, the one that was given first. */
static int by_time(const void *a, const void *b)
{
	const struct way *x = a, *y = b;
	const uint64_t s = x->result->time.median_ns, t = y->result->time.median_ns;

	return s != t ? (s > t) - (s < t) : (x->number > y->number) - (x->number < y->number);
}

static void print_way(pctl_app *app, const struct way *w, int is_best)
{
	const pctl_tune_result *r = w->result;
	pctl_json *j = &app->document;
	char ns[PCTL_SHOWN];

	if (app->json) {
		pctl_json_object_begin(j);
		pctl_json_kv_string(j, "case", w->name);
		pctl_json_kv_bool(j, "best", is_best);
		json_sizes(j, "workgroup_size", r->workgroup);
		json_sizes(j, "groups", r->groups);
		pctl_json_kv_u64(j, "invocations", r->invocations);
		json_time(j, "time", &r->time);
		pctl_json_object_end(j);
		return;
	}
	pctl_table_cell(app->table, "%s", w->name);
	pctl_table_cell(app->table, "%s", pctl_show_ns(r->time.median_ns, ns));
	pctl_table_cell(app->table, "%s", clock_name(&r->time));
	pctl_table_cell(app->table, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, r->workgroup[0],
			r->workgroup[1], r->workgroup[2]);
	pctl_table_cell(app->table, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, r->groups[0], r->groups[1],
			r->groups[2]);
	pctl_table_cell(app->table, "%s", is_best ? "best" : "");
}

pctl_status pctl_shader_sweep_print(pctl_app *app, const char *path, const char *const *names,
				    pctl_tune_result *const *results, uint32_t n)
{
	static const pctl_column columns[] = {{"values", "", 24},   {"time", "  ", -10},
					      {"clock", "  ", 6},   {"workgroup", "  ", 12},
					      {"groups", "  ", 12}, {"", "  ", 0}};
	struct way *ways = pctl_arena_array(app->arena, n, sizeof(*ways));
	int is_device = 1;

	if (ways == NULL)
		return pctl_no_memory(app->call, "a table");
	for (uint32_t i = 0; i < n; i++) {
		ways[i] = (struct way){names[i], results[i], i};
		is_device = is_device && results[i]->time.is_device;
	}
	qsort(ways, n, sizeof(*ways), by_time);
	if (app->json) {
		pctl_json_kv_string(&app->document, "file", path);
		pctl_json_kv_string(&app->document, "entry", results[0]->entry);
		pctl_json_kv_string(&app->document, "device", results[0]->device);
		pctl_json_kv_bool(&app->document, "compared", (int)results[0]->compared);
	} else {
		printf("%s: %s on %s, %" PRIu32 " ways%s\n", path, results[0]->entry,
		       results[0]->device, n,
		       results[0]->compared ? ", all with the same bytes" : ", bytes not compared");
	}
	list_begin(app, "cases", columns, PCTL_COLUMNS(columns));
	for (uint32_t i = 0; i < n; i++)
		print_way(app, &ways[i], i == 0);
	if (!app->json && !is_device)
		pctl_table_note(app->table, "", "%s",
				"times by the host's clock hold what a submit costs, too");
	return pctl_app_list_end(app, PCTL_OK);
}
