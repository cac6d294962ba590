/* `op list --lock`: what is frozen of each op, as one digest a line. Words of explanation (doc) may be improved and are left
 * out; the definition (spec) may not. That a port may go through functions says how work is cut, not what an op is. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "foundation/base/str.h"

static const char *text_or(const char *text)
{
	return text == NULL ? "" : text;
}

static void add_ports(pctl_str_buf *s, const char *what, const pctl_port *ports, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		pctl_str_addf(s, "%s %s %s %" PRIu32 "\n", what, ports[i].name, ports[i].type,
			      ports[i].flags & ~PCTL_PORT_THROUGH);
}

static void add_spec(pctl_str_buf *s, const pctl_op_desc *d)
{
	pctl_str_addf(s,
		      "%s@%" PRIu32 "\nkind %" PRIu32 "\ncategory %" PRIu32 "\nclass %" PRIu32
		      "\nconvention %" PRIu32 "\nhardware %s\n",
		      d->name, d->version, d->kind, d->category, d->op_class, d->convention,
		      text_or(d->hardware));
	add_ports(s, "in", d->in, d->n_in);
	add_ports(s, "out", d->out, d->n_out);
	for (uint32_t i = 0; i < d->n_attr; i++)
		pctl_str_addf(s, "attr %s %" PRIu32 " %s %s %" PRIu64 " %" PRIu64 "\n",
			      d->attr[i].name, d->attr[i].kind,
			      d->attr[i].default_text == NULL ? "-" : "=",
			      text_or(d->attr[i].default_text), d->attr[i].min, d->attr[i].max);
	pctl_str_addf(s, "spec\n%s\n", text_or(d->spec));
}

static pctl_status lock_line(pctl_app *app, const pctl_op_desc *d, char **out)
{
	pctl_str_buf spec = PCTL_STR_BUF_INIT;
	char digest[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status;

	add_spec(&spec, d);
	status = spec.failed ? pctl_no_memory(app->call, "a spec")
			     : pctl_cid_of(spec.data, spec.n, app->call, &cid);
	pctl_str_drop(&spec);
	if (status != PCTL_OK)
		return status;
	*out = pctl_arena_printf(app->arena, "%s@%" PRIu32 " %s", d->name, d->version,
				 pctl_cid_format(&cid, digest));
	return *out != NULL ? PCTL_OK : pctl_no_memory(app->call, "a spec");
}

/* By the name with its version, as the reader of the lock compares. */
static int by_name(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	const size_t n_x = strcspn(x, " "), n_y = strcspn(y, " ");
	const int c = memcmp(x, y, n_x < n_y ? n_x : n_y);

	return c != 0 ? c : (n_x > n_y) - (n_x < n_y);
}

pctl_status pctl_app_print_lock(pctl_app *app)
{
	const pctl_op_source *ops = pctl_op_library_source(app->host.library);
	const uint32_t n = ops->count(ops->ctx);
	char **lines = pctl_arena_array(app->arena, n, sizeof(*lines));
	pctl_status status = lines == NULL ? pctl_no_memory(app->call, "ops") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < n; i++) {
		pctl_op_ref op;

		ops->at(ops->ctx, i, &op);
		status = lock_line(app, op.desc, &lines[i]);
	}
	if (status != PCTL_OK)
		return status;
	qsort(lines, n, sizeof(*lines), by_name);
	printf("# Specs of released ops, by `pipectl op list --lock`. A line never changes: a "
	       "changed "
	       "op gets a new version.\n");
	for (uint32_t i = 0; i < n; i++)
		printf("%s\n", lines[i]);
	return PCTL_OK;
}
