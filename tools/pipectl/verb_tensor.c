/* Verbs over files of tensors: show, convert. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/file.h"
#include "foundation/base/num.h"
#include "foundation/tensorfile/convert.h"
#include "foundation/tensorfile/tensor_file.h"

#define PICTURE_ROWS 16u
#define PICTURE_COLUMNS 64u
#define BAR 48u
#define TENSORS_MAX 65536u

static const char *shape_text(pctl_app *app, const pctl_tensor_entry *e)
{
	const pctl_dtype *t = pctl_dtype_of(e->type.dtype);
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *text;

	pctl_str_add(&s, t == NULL ? e->stored : t->name);
	for (uint32_t i = 0; i < e->type.rank; i++)
		pctl_str_addf(&s, "%s%" PRIu64, i ? "," : "[", e->type.dim[i]);
	if (e->type.rank)
		pctl_str_add(&s, "]");
	text = s.failed ? NULL : pctl_arena_dup_n(app->arena, s.data, s.n);
	pctl_str_drop(&s);
	return text == NULL ? "?" : text;
}

/* ---- show ---- */

static void entry_json(pctl_app *app, const pctl_tensor_entry *e)
{
	const pctl_dtype *t = pctl_dtype_of(e->type.dtype);

	pctl_json_kv_string(&app->document, "name", e->name);
	pctl_json_kv_string(&app->document, "type", t == NULL ? NULL : t->name);
	pctl_json_kv_string(&app->document, "stored", e->stored);
	pctl_json_key(&app->document, "shape");
	pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; i < e->type.rank; i++)
		pctl_json_u64(&app->document, e->type.dim[i]);
	pctl_json_array_end(&app->document);
	pctl_json_kv_u64(&app->document, "bytes", e->n_bytes);
}

static pctl_status list(pctl_app *app, const pctl_tensor_file *f)
{
	static const pctl_column columns[] = {
		{"tensor", "", 32}, {"type", " ", 24}, {"bytes", " ", -14}, {"stored as", " ", 0}};
	const pctl_tensor_entry *e;

	if (app->json)
		pctl_json_kv_string(&app->document, "format",
				    pctl_tensor_format_name(pctl_tensor_file_format(f)));
	pctl_app_list_begin(app, "tensors", columns, PCTL_COLUMNS(columns));
	for (uint64_t i = 0; (e = pctl_tensor_file_at(f, i)) != NULL; i++) {
		if (app->json) {
			pctl_json_object_begin(&app->document);
			entry_json(app, e);
			pctl_json_object_end(&app->document);
		} else {
			pctl_table_cell(app->table, "%s", e->name);
			pctl_table_cell(app->table, "%s", shape_text(app, e));
			pctl_table_cell(app->table, "%" PRIu64, e->n_bytes);
			pctl_table_cell(app->table, "%s", e->stored);
		}
	}
	return pctl_app_list_end(app, PCTL_OK);
}

static void print_histogram(const pctl_tensor_statistics *s)
{
	const double step = s->most / PCTL_TENSOR_BINS - s->least / PCTL_TENSOR_BINS;
	uint64_t highest = 1;

	for (uint32_t i = 0; i < PCTL_TENSOR_BINS; i++)
		highest = s->bins[i] > highest ? s->bins[i] : highest;
	for (uint32_t i = 0; i < PCTL_TENSOR_BINS && s->finite; i++) {
		const uint32_t n = (uint32_t)((double)s->bins[i] / (double)highest * BAR + 0.5);

		printf("  %12.5g  %.*s%s%" PRIu64 "\n", s->least + step * i, (int)n,
		       "################################################", n ? " " : "",
		       s->bins[i]);
	}
}

static void statistics_json(pctl_app *app, const pctl_tensor_statistics *s)
{
	pctl_json_key(&app->document, "statistics");
	pctl_json_object_begin(&app->document);
	pctl_json_kv_u64(&app->document, "elements", s->n);
	pctl_json_kv_u64(&app->document, "finite", s->finite);
	pctl_json_kv_u64(&app->document, "zeros", s->zeros);
	pctl_json_kv_u64(&app->document, "nan", s->nan);
	pctl_json_kv_u64(&app->document, "infinite", s->infinite);
	pctl_json_key(&app->document, "least");
	pctl_json_double(&app->document, s->finite ? s->least : 0);
	pctl_json_key(&app->document, "most");
	pctl_json_double(&app->document, s->finite ? s->most : 0);
	pctl_json_key(&app->document, "mean");
	pctl_json_double(&app->document, s->mean);
	pctl_json_key(&app->document, "histogram");
	pctl_json_array_begin(&app->document);
	for (uint32_t i = 0; i < PCTL_TENSOR_BINS; i++)
		pctl_json_u64(&app->document, s->bins[i]);
	pctl_json_array_end(&app->document);
	pctl_json_object_end(&app->document);
}

/* What --picture asks for; without it a matrix for two dimensions and more, a histogram for fewer. */
static pctl_status picture_kind(pctl_app *app, const pctl_tensor_type *type, char *out)
{
	const char *text = pctl_option_value(&app->line, "--picture");

	*out = text != NULL ? text[0] : type->rank >= 2 ? 'm' : 'h';
	if (text == NULL || strcmp(text, "matrix") == 0 || strcmp(text, "histogram") == 0 ||
	    strcmp(text, "none") == 0)
		return PCTL_OK;
	return pctl_refuse(app->call, PC10_USAGE,
			   "--picture wants matrix, histogram or none, not \"%s\"", text);
}

static void print_details(pctl_app *app, const pctl_tensor_entry *e,
			  const pctl_tensor_statistics *s, char kind, const char *picture)
{
	printf("%s%s%s, %" PRIu64 " bytes, stored as %s\n", e->name, e->name[0] ? " " : "",
	       shape_text(app, e), e->n_bytes, e->stored);
	printf("  %" PRIu64 " elements: %" PRIu64 " finite (%" PRIu64 " zero), %" PRIu64
	       " NaN, %" PRIu64 " infinite\n",
	       s->n, s->finite, s->zeros, s->nan, s->infinite);
	if (s->finite)
		printf("  from %.9g to %.9g, mean %.9g\n", s->least, s->most, s->mean);
	if (kind == 'h')
		print_histogram(s);
	if (picture != NULL)
		fputs(picture, stdout);
}

static pctl_status details(pctl_app *app, pctl_tensor_file *f, uint64_t i)
{
	const pctl_tensor_entry *e = pctl_tensor_file_at(f, i);
	pctl_tensor_statistics s;
	char *picture = NULL, kind;
	void *data = NULL;
	pctl_status status = picture_kind(app, &e->type, &kind);

	if (status == PCTL_OK)
		status = pctl_tensor_file_read(f, i, app->call, &data);
	if (status != PCTL_OK)
		return status;
	(void)pctl_tensor_statistics_of(&e->type, data, &s);
	if (kind == 'm')
		picture = pctl_tensor_picture(&e->type, data, PICTURE_ROWS, PICTURE_COLUMNS);
	if (app->json) {
		pctl_json_kv_string(&app->document, "format",
				    pctl_tensor_format_name(pctl_tensor_file_format(f)));
		pctl_json_key(&app->document, "tensor");
		pctl_json_object_begin(&app->document);
		entry_json(app, e);
		statistics_json(app, &s);
		if (picture != NULL)
			pctl_json_kv_string(&app->document, "picture", picture);
		pctl_json_object_end(&app->document);
	} else {
		print_details(app, e, &s, kind, picture);
	}
	free(picture);
	free(data);
	return PCTL_OK;
}

pctl_status pctl_verb_tensor_show(pctl_app *app)
{
	const char *file = app->line.arguments[0];
	pctl_tensor_file *f;
	pctl_status status = pctl_tensor_file_open(file, app->call, &f);
	uint64_t i = 0;

	if (status != PCTL_OK)
		return status;
	if (app->line.n_arguments > 1)
		status = pctl_tensor_file_find(f, app->line.arguments[1], app->call, &i);
	if (status == PCTL_OK)
		status = app->line.n_arguments > 1 ||
					 pctl_tensor_file_format(f) == PCTL_TENSOR_FORMAT_NPY
				 ? details(app, f, i)
				 : list(app, f);
	pctl_tensor_file_close(f);
	return status;
}

/* ---- convert ---- */

typedef struct conversion {
	const pctl_dtype *to; /* NULL: as it is */
	pctl_dtype_overflow overflow;
	pctl_tensor *tensors;
	uint64_t n;
} conversion;

static pctl_status type_named(pctl_app *app, const char *name, size_t n, const pctl_dtype **out)
{
	const char *names[64], *near, *known = "";
	const pctl_dtype *t;
	uint32_t k = 0;

	*out = pctl_dtype_named(name, n);
	if (*out != NULL)
		return PCTL_OK;
	for (; k < 64 && (t = pctl_dtype_row(k)) != NULL; k++) {
		names[k] = t->name;
		known = k == 0 ? t->name : pctl_arena_printf(app->arena, "%s, %s", known, t->name);
	}
	near = pctl_str_nearest(pctl_arena_dup_n(app->arena, name, n), names, k);
	return pctl_refuse_at(app->call, PC10_USAGE, NULL,
			      near == NULL
				      ? pctl_arena_printf(app->arena, "there are %s", known)
				      : pctl_arena_printf(app->arena, "did you mean \"%s\"?", near),
			      "\"%.*s\" is no element type", (int)n, name);
}

/* "f32[4,8]" of --from. */
static pctl_status type_of(pctl_app *app, const char *text, pctl_tensor_type *out)
{
	const size_t n = strcspn(text, "[");
	const char *at = text + n;
	const pctl_dtype *t;
	pctl_status status = type_named(app, text, n, &t);

	memset(out, 0, sizeof(*out));
	if (status != PCTL_OK)
		return status;
	out->dtype = t->id;
	while (*at == (out->rank ? ',' : '[') && out->rank < PCTL_RANK_MAX) {
		const size_t digits = strspn(at + 1, "0123456789");

		if (!pctl_num_parse_u64(at + 1, digits, &out->dim[out->rank]))
			break;
		out->rank++;
		at += 1 + digits;
	}
	if (strcmp(at, out->rank ? "]" : "") != 0)
		return pctl_refuse(app->call, PC10_USAGE,
				   "--from wants a type with its shape, as f32[4,8], not \"%s\"",
				   text);
	return PCTL_OK;
}

static pctl_status put_tensor(pctl_app *app, conversion *c, const char *name,
			      const pctl_tensor_type *type, void *data)
{
	pctl_tensor *t = &c->tensors[c->n];
	void *converted = NULL;
	pctl_status status =
		pctl_tensor_convert(name, type, data, c->to == NULL ? type->dtype : c->to->id,
				    c->overflow, app->call, &t->type, &converted);

	free(data);
	if (status != PCTL_OK)
		return status;
	t->name = pctl_arena_dup(app->arena, name);
	t->data = converted;
	c->n++;
	return t->name == NULL ? pctl_no_memory(app->call, "a tensor") : PCTL_OK;
}

/* A file of bytes alone, whose type the command line gives. */
static pctl_status read_raw(pctl_app *app, const char *file, const char *from, conversion *c)
{
	pctl_tensor_type type;
	uint64_t n, want, n_bytes;
	char *data;
	pctl_status status = type_of(app, from, &type);

	if (status != PCTL_OK)
		return status;
	if (!pctl_tensor_size(&type, &n, &want))
		return pctl_refuse(
			app->call, PC10_USAGE,
			"--from %s: too large, or rows that are no whole blocks of %" PRIu32
			" elements",
			from, pctl_dtype_of(type.dtype)->block);
	status = pctl_file_read(file, UINT64_MAX - 1, app->call, &data, &n_bytes);
	if (status != PCTL_OK)
		return status;
	if (n_bytes != want)
		status = pctl_refuse(app->call, PC4211_TENSOR_FILE,
				     "%s: byte %" PRIu64 ": %s has %" PRIu64
				     " bytes, the file %" PRIu64,
				     file, n_bytes < want ? n_bytes : want, from, want, n_bytes);
	else
		status = pctl_tensor_check(file, "", &type, data, app->call);
	if (status == PCTL_OK)
		return put_tensor(app, c, "", &type, data);
	free(data);
	return status;
}

static pctl_status read_all(pctl_app *app, const char *file, conversion *c)
{
	const char *wanted = pctl_option_value(&app->line, "--tensor");
	const pctl_tensor_entry *e;
	pctl_tensor_file *f;
	uint64_t i = 0;
	pctl_status status = pctl_tensor_file_open(file, app->call, &f);

	if (status != PCTL_OK)
		return status;
	if (wanted != NULL)
		status = pctl_tensor_file_find(f, wanted, app->call, &i);
	for (; status == PCTL_OK && (e = pctl_tensor_file_at(f, i)) != NULL; i++) {
		void *data;

		if (c->n == TENSORS_MAX) {
			status = pctl_refuse(app->call, PC4214_TENSOR_FORMAT,
					     "%s: more than %u tensors", file, TENSORS_MAX);
			break;
		}
		status = pctl_tensor_file_read(f, i, app->call, &data);
		if (status == PCTL_OK)
			status = put_tensor(app, c, e->name, &e->type, data);
		if (wanted != NULL)
			break;
	}
	pctl_tensor_file_close(f);
	return status;
}

static pctl_status write_raw(pctl_app *app, const char *out, const conversion *c)
{
	uint64_t n, n_bytes;

	if (c->n != 1)
		return pctl_refuse_at(app->call, PC4214_TENSOR_FORMAT, NULL,
				      "write .npz or .safetensors, or name one with --tensor",
				      "%s: bytes alone are one tensor, not %" PRIu64, out, c->n);
	(void)pctl_tensor_size(&c->tensors[0].type, &n, &n_bytes);
	return pctl_file_write(out, c->tensors[0].data, n_bytes, 1, app->call);
}

static pctl_status carry_out(pctl_app *app, conversion *c)
{
	const char *in = app->line.arguments[0], *out = app->line.arguments[1];
	const char *from = pctl_option_value(&app->line, "--from"),
		   *to = pctl_option_value(&app->line, "--to");
	pctl_tensor_format format;
	pctl_status status = PCTL_OK;

	c->overflow = pctl_option_has(&app->line, "--saturate") ? PCTL_DTYPE_OVERFLOW_SATURATE
								: PCTL_DTYPE_OVERFLOW_IEEE;
	if (from != NULL && pctl_option_has(&app->line, "--tensor"))
		return pctl_refuse(app->call, PC10_USAGE,
				   "--from says that %s is bytes alone, which have no --tensor",
				   in);
	status = pctl_tensor_format_check(out, app->call);
	if (status == PCTL_OK && to != NULL)
		status = type_named(app, to, strlen(to), &c->to);
	if (status == PCTL_OK)
		status = from != NULL ? read_raw(app, in, from, c) : read_all(app, in, c);
	if (status != PCTL_OK)
		return status;
	if (!pctl_tensor_format_of(out, &format))
		return write_raw(app, out, c);
	/* A tensor without a name gets one where names are needed. */
	if (format != PCTL_TENSOR_FORMAT_NPY && c->n == 1 && c->tensors[0].name[0] == '\0')
		c->tensors[0].name = "tensor";
	return pctl_tensor_file_write(out, format, c->tensors, c->n, app->call);
}

static pctl_status report(pctl_app *app, const conversion *c)
{
	static const pctl_column columns[] = {{"tensor", "", 32}, {"type", " ", 0}};

	if (app->json)
		pctl_json_kv_string(&app->document, "file", app->line.arguments[1]);
	pctl_app_list_begin(app, "tensors", columns, PCTL_COLUMNS(columns));
	for (uint64_t i = 0; i < c->n; i++) {
		const pctl_tensor_entry e = {.name = c->tensors[i].name,
					     .type = c->tensors[i].type};

		if (app->json) {
			pctl_json_object_begin(&app->document);
			pctl_json_kv_string(&app->document, "name", e.name);
			pctl_json_kv_string(&app->document, "type", shape_text(app, &e));
			pctl_json_object_end(&app->document);
		} else {
			pctl_table_cell(app->table, "%s", e.name);
			pctl_table_cell(app->table, "%s", shape_text(app, &e));
		}
	}
	return pctl_app_list_end(app, PCTL_OK);
}

pctl_status pctl_verb_tensor_convert(pctl_app *app)
{
	conversion c = {.tensors = calloc(TENSORS_MAX, sizeof(*c.tensors))};
	pctl_status status =
		c.tensors == NULL ? pctl_no_memory(app->call, "tensors") : carry_out(app, &c);

	if (status == PCTL_OK && !pctl_app_is_standard_output(app->line.arguments[1]))
		status = report(app, &c);
	for (uint64_t i = 0; i < c.n; i++)
		free((void *)(uintptr_t)c.tensors[i].data);
	free(c.tensors);
	return status;
}
