/* Verbs of the registry: upload, list, alias, deprecate. What one shader costs is shown by verb_shader_show.c. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "chain.h"
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

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* --tag in any order, a repeated one once. */
static pctl_status tags_of(pctl_app *app, pctl_msg_upload *m)
{
	const char **tags, *tag;
	uint32_t n = 0, kept = 0;

	while (pctl_option_at(&app->line, "--tag", n) != NULL)
		n++;
	tags = pctl_arena_array(app->arena, n, sizeof(*tags));
	if (tags == NULL)
		return pctl_no_memory(app->call, "a message");
	for (uint32_t i = 0; (tag = pctl_option_at(&app->line, "--tag", i)) != NULL; i++)
		tags[i] = tag;
	if (n > 1)
		qsort(tags, n, sizeof(*tags), compare_texts);
	for (uint32_t i = 0; i < n; i++)
		if (kept == 0 || strcmp(tags[kept - 1], tags[i]) != 0)
			tags[kept++] = tags[i];
	m->tags = tags;
	m->n_tags = kept;
	return PCTL_OK;
}

static const char *text_of(pctl_app *app, const char *option)
{
	const char *text = pctl_option_value(&app->line, option);

	return text == NULL ? "" : text;
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
	pctl_request r = {.kind = PCTL_MSG_UPLOAD};
	pctl_msg_upload *m = &r.as.upload;
	pctl_response out = {.kind = 0};
	pctl_chain *c = NULL;
	char *text = NULL;
	pctl_status status = pctl_app_sender(app, &m->sender);

	m->description = text_of(app, "--description");
	m->implements = text_of(app, "--implements");
	if (status == PCTL_OK)
		status = tags_of(app, m);
	if (status == PCTL_OK)
		status = pctl_app_shader_text(app, app->line.arguments[0], &text, &m->n_source);
	m->source = (const uint8_t *)text;
	if (status == PCTL_OK)
		status = name_source(app, text, m->n_source);
	if (status == PCTL_OK)
		status = pctl_app_chain(app, NULL, &c);
	if (status == PCTL_OK)
		status = pctl_chain_apply(c, &r, app->call, &out);
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
	uint32_t n;
} shown;

static int print_tag(void *ctx, const char *tag)
{
	shown *l = ctx;

	if (l->app->json)
		pctl_json_string(&l->app->document, tag);
	else
		printf("%s%s", l->n++ == 0 ? "  [" : " ", tag);
	return 0;
}

static int print_shader(void *ctx, const pctl_shader_row *row)
{
	shown *l = ctx, tags = {.app = l->app};
	pctl_json *j = &l->app->document;

	if (!l->app->json) {
		printf("%s  %s%s", row->cid, row->sender,
		       row->deprecated != 0 ? "  deprecated" : "");
		l->status = pctl_shaders_tags(l->s, row->cid, print_tag, &tags, l->app->call);
		printf("%s  %s\n", tags.n == 0 ? "" : "]", row->description);
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
	l->status = pctl_shaders_tags(l->s, row->cid, print_tag, &tags, l->app->call);
	pctl_json_array_end(j);
	pctl_json_object_end(j);
	return l->status != PCTL_OK;
}

static int print_alias(void *ctx, const pctl_alias_row *row)
{
	pctl_app *app = ctx;
	pctl_json *j = &app->document;

	if (!app->json) {
		printf("alias %s decision %" PRIu64 ": %s by %s at height %" PRIu64 "\n", row->name,
		       row->decision, row->cid, row->sender, row->height);
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
	const char *tag = pctl_option_value(&app->line, "--tag");
	shown l = {.app = app};
	pctl_chain *c = NULL;
	pctl_status status = pctl_app_chain(app, NULL, &c);

	if (status != PCTL_OK)
		return status;
	l.s = pctl_cursor(c);
	if (app->json) {
		pctl_json_key(&app->document, "shaders");
		pctl_json_array_begin(&app->document);
	}
	status = pctl_shaders_list(l.s, tag, print_shader, &l, app->call);
	if (status == PCTL_OK)
		status = l.status;
	if (app->json) {
		pctl_json_array_end(&app->document);
		pctl_json_key(&app->document, "aliases");
		pctl_json_array_begin(&app->document);
	}
	if (status == PCTL_OK && tag == NULL)
		status = pctl_aliases_list(l.s, print_alias, app, app->call);
	if (app->json)
		pctl_json_array_end(&app->document);
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
			  .as.link = {NULL, app->line.arguments[0], app->line.arguments[1]}};
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
