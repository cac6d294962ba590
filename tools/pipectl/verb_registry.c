/* Verbs of the registry: upload, list, alias, deprecate. What one shader costs is shown by verb_shader_show.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/str.h"
#include "chain.h"
#include "chain/home/submit.h"
#include "chain/registry/registry.h"
#include "shader_text.h"

static void print_pair(pctl_app *app, const char *name, const char *value)
{
	if (app->json)
		pctl_json_kv_string(&app->document, name, value);
	else
		printf("%-12s %s\n", name, value);
}

/* ---- upload -------------------------------------------------------------------------------- */

static pctl_status tags_of(pctl_app *app, pctl_msg_upload *m)
{
	const char **tags, *tag;
	uint32_t n = 0;

	while (pctl_option_at(&app->line, "--tag", n) != NULL)
		n++;
	tags = pctl_arena_array(app->arena, n, sizeof(*tags));
	if (tags == NULL)
		return pctl_no_memory(app->call, "a message");
	for (uint32_t i = 0; (tag = pctl_option_at(&app->line, "--tag", i)) != NULL; i++)
		tags[i] = tag;
	m->tags = tags;
	m->n_tags = n;
	return PCTL_OK;
}

/* Diagnostics of the shader speak of its CID; the carets want its text. */
static pctl_status name_source(pctl_app *app, const char *text, uint64_t n)
{
	char name[PCTL_CID_TEXT_SIZE];
	pctl_cid cid;
	pctl_status status = pctl_cid_of(text, n, app->call, &cid);

	if (status == PCTL_OK)
		pctl_diag_list_source(app->diagnostics, pctl_cid_format(&cid, name), text, n);
	return status;
}

static void print_upload(pctl_app *app, const pctl_msg_upload_response *m)
{
	const pctl_msg_profile *p = &m->profile;

	if (!app->json) {
		printf("%s\n", m->shader_cid);
		return;
	}
	pctl_json_kv_string(&app->document, "shader", m->shader_cid);
	pctl_json_kv_u64(&app->document, "cost_per_workgroup", p->cost_per_workgroup);
	pctl_json_kv_u64(&app->document, "max_loop_iterations", p->max_loop_iterations);
	pctl_json_kv_u64(&app->document, "workgroup_shared_bytes", p->workgroup_shared_bytes);
	pctl_json_kv_u32(&app->document, "ticks", p->n_ticks);
}

pctl_status pctl_verb_shader_upload(pctl_app *app)
{
	pctl_msg_upload m = {.description = pctl_option_value(&app->line, "--description"),
			     .implements = pctl_option_value(&app->line, "--implements")};
	pctl_response out = {.kind = 0};
	pctl_chain *c = NULL;
	char *text = NULL;
	pctl_status status = pctl_app_sender(app, &m.sender);

	if (status == PCTL_OK)
		status = tags_of(app, &m);
	if (status == PCTL_OK)
		status = pctl_app_shader_text(app, app->line.arguments[0], &text, &m.n_source);
	m.source = (const uint8_t *)text;
	if (status == PCTL_OK)
		status = name_source(app, text, m.n_source);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_home_upload(c, &m, app->call, &out);
	if (status == PCTL_OK)
		print_upload(app, &out.as.upload);
	pctl_response_destroy(&out);
	pctl_chain_close(c);
	free(text);
	return status;
}

/* ---- list ---------------------------------------------------------------------------------- */

typedef struct shown {
	pctl_app *app;
	pctl_chain_state *s;
	pctl_status status;
	pctl_str_buf tags; /* of a row */
} shown;

static int print_tag(void *ctx, const char *tag)
{
	shown *l = ctx;

	if (l->app->json)
		pctl_json_string(&l->app->document, tag);
	else
		pctl_str_addf(&l->tags, "%s%s", l->tags.n == 0 ? "" : " ", tag);
	return 0;
}

static int print_shader(void *ctx, const pctl_shader_row *row)
{
	shown *l = ctx;
	pctl_json *j = &l->app->document;
	pctl_table *t = l->app->table;

	if (!l->app->json) {
		l->tags = (pctl_str_buf)PCTL_STR_BUF_INIT;
		l->status = pctl_shaders_tags(l->s, row->cid, print_tag, l, l->app->call);
		pctl_table_cell(t, "%s", row->cid);
		pctl_table_cell(t, "%s", row->sender);
		pctl_table_maybe(t, row->deprecated != 0 ? "deprecated" : NULL);
		if (l->tags.n == 0)
			pctl_table_none(t);
		else
			pctl_table_cell(t, "[%s]", l->tags.failed ? "?" : l->tags.data);
		pctl_table_cell(t, "%s", row->description);
		pctl_str_drop(&l->tags);
		return l->status != PCTL_OK;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "shader", row->cid);
	pctl_json_kv_string(j, "sender", row->sender);
	pctl_json_kv_u64(j, "height", row->height);
	pctl_json_kv_string(j, "description", row->description);
	pctl_json_kv_string(j, "implements", row->implements);
	pctl_json_kv_u64(j, "deprecated", row->deprecated);
	pctl_json_key(j, "tags");
	pctl_json_array_begin(j);
	l->status = pctl_shaders_tags(l->s, row->cid, print_tag, l, l->app->call);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
	return l->status != PCTL_OK;
}

static int print_alias(void *ctx, const pctl_alias_row *row)
{
	pctl_app *app = ctx;
	pctl_json *j = &app->document;

	if (!app->json) {
		pctl_table_cell(app->table, "%s", row->name);
		pctl_table_cell(app->table, "%" PRIu64, row->decision);
		pctl_table_cell(app->table, "%s", row->cid);
		pctl_table_cell(app->table, "%s", row->sender);
		pctl_table_cell(app->table, "%" PRIu64, row->height);
		return 0;
	}
	pctl_json_object_begin(j);
	pctl_json_kv_string(j, "alias", row->name);
	pctl_json_kv_u64(j, "decision", row->decision);
	pctl_json_kv_string(j, "shader", row->cid);
	pctl_json_kv_string(j, "sender", row->sender);
	pctl_json_kv_u64(j, "height", row->height);
	pctl_json_object_end(j);
	return 0;
}

pctl_status pctl_verb_shader_list(pctl_app *app)
{
	static const pctl_column columns[] = {{"shader", "", 0},
					      {"sender", "  ", 0},
					      {"state", "  ", 0},
					      {"tags", "  ", 0},
					      {"about", "  ", 0}};
	static const pctl_column alias_columns[] = {{"alias", "alias ", 0},
						    {"decision", " decision ", 0},
						    {"shader", ": ", 0},
						    {"sender", " by ", 0},
						    {"height", " at height ", 0}};
	const char *tag = pctl_option_value(&app->line, "--tag");
	shown l = {.app = app};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status != PCTL_OK)
		return status;
	l.s = pctl_cursor(c);
	pctl_app_list_begin(app, "shaders", columns, PCTL_COLUMNS(columns));
	status = pctl_shaders_list(l.s, tag, print_shader, &l, app->call);
	status = pctl_app_list_end(app, status == PCTL_OK ? l.status : status);
	pctl_app_list_begin(app, "aliases", alias_columns, PCTL_COLUMNS(alias_columns));
	if (status == PCTL_OK && tag == NULL)
		status = pctl_aliases_list(l.s, print_alias, app, app->call);
	status = pctl_app_list_end(app, status);
	pctl_chain_close(c);
	return status;
}

/* ---- names --------------------------------------------------------------------------------- */

static pctl_status decide(pctl_app *app, uint32_t op, const char *name, const char *cid)
{
	pctl_request r = {.kind = PCTL_MSG_NAME, .as.name = {NULL, op, 0, name, cid}};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_sender(app, &r.as.name.sender);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	pctl_chain_close(c);
	if (status != PCTL_OK)
		return status;
	if (name[0] != '\0')
		print_pair(app, "alias", name);
	print_pair(app, "shader", cid);
	return PCTL_OK;
}

pctl_status pctl_verb_shader_alias(pctl_app *app)
{
	return decide(app, PCTL_NAME_ALIAS, app->line.arguments[0], app->line.arguments[1]);
}

pctl_status pctl_verb_shader_deprecate(pctl_app *app)
{
	return decide(app, PCTL_NAME_DEPRECATE, "", app->line.arguments[0]);
}

/* ---- links --------------------------------------------------------------------------------- */

pctl_status pctl_verb_link(pctl_app *app)
{
	pctl_request r = {.kind = PCTL_MSG_LINK,
			  .as.link = {NULL, app->line.arguments[0], app->line.arguments[1],
				      (uint32_t)pctl_option_has(&app->line, "--take"), 0}};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_sender(app, &r.as.link.sender);

	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, NULL);
	pctl_chain_close(c);
	if (status != PCTL_OK)
		return status;
	print_pair(app, "source", r.as.link.source);
	print_pair(app, "target", r.as.link.target);
	return PCTL_OK;
}
