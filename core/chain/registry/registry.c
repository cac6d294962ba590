/* Reading the registry, and decisions about names: aliases and deprecation. Taking a shader in is upload.c. */
#include "chain/registry/registry.h"

#include <string.h>

#include "chain/chain_private.h"
#include "chain/graph/edges.h"
#include "chain/registry/own.h"
#include "chain/state/amount.h"
#include "chain/state/cursor.h"

#define SHADER_COLUMNS "s.cid, s.sender, s.height, s.description, s.implements, s.deprecated"

void pctl_shader_row_clear(pctl_shader_row *row)
{
	pctl_response_destroy(&row->profile);
	memset(&row->profile, 0, sizeof(row->profile));
}

/* ---- shaders ------------------------------------------------------------------------------- */

static void read_head(sqlite3_stmt *stmt, pctl_shader_row *out)
{
	memset(out, 0, sizeof(*out));
	pctl_cursor_text(stmt, 0, out->cid, sizeof(out->cid));
	pctl_cursor_text(stmt, 1, out->sender, sizeof(out->sender));
	out->height = (uint64_t)sqlite3_column_int64(stmt, 2);
	pctl_cursor_text(stmt, 3, out->description, sizeof(out->description));
	pctl_cursor_text(stmt, 4, out->implements, sizeof(out->implements));
	out->deprecated = (uint64_t)sqlite3_column_int64(stmt, 5);
}

pctl_status pctl_shaders_look(pctl_chain_state *s, const char *cid, const pctl_call *call,
			      int *found, uint64_t *deprecated)
{
	sqlite3_stmt *stmt = NULL;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT deprecated FROM shaders WHERE cid = ?", "t", cid);

	*found = 0;
	*deprecated = 0;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, found);
	if (status == PCTL_OK && *found)
		*deprecated = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status;
}

static pctl_status unknown(const char *cid, const pctl_call *call)
{
	return pctl_refuse(call, PC5804_SHADER_UNKNOWN, "no shader %s", cid);
}

pctl_status pctl_shaders_read(pctl_chain_state *s, const char *cid, const pctl_call *call,
			      pctl_shader_row *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(s, call, &stmt,
					      "SELECT " SHADER_COLUMNS ", s.profile FROM shaders s "
					      "WHERE s.cid = ?",
					      "t", cid);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more) {
		read_head(stmt, out);
		status = pctl_response_decode(sqlite3_column_blob(stmt, 6),
					      (uint64_t)sqlite3_column_bytes(stmt, 6), call,
					      &out->profile);
	} else if (status == PCTL_OK) {
		status = unknown(cid, call);
	}
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_shaders_list(pctl_chain_state *s, const char *tag, pctl_shaders_visit visit,
			      void *ctx, const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_shader_row row;
	int more = 1;
	pctl_status status;

	if (tag == NULL)
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT " SHADER_COLUMNS " FROM shaders s ORDER BY s.cid",
					  "");
	else
		status = pctl_cursor_open(s, call, &stmt,
					  "SELECT " SHADER_COLUMNS " FROM shaders s, shader_tags t "
					  "WHERE t.tag = ? AND t.cid = s.cid ORDER BY s.cid",
					  "t", tag);
	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		read_head(stmt, &row);
		if (visit(ctx, &row) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_shaders_tags(pctl_chain_state *s, const char *cid, pctl_tags_visit visit,
			      void *ctx, const pctl_call *call)
{
	char tag[PCTL_MESSAGE_TAG_MAX + 1u];
	sqlite3_stmt *stmt = NULL;
	int more = 1;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT tag FROM shader_tags WHERE cid = ? ORDER BY tag", "t", cid);

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		pctl_cursor_text(stmt, 0, tag, sizeof(tag));
		if (visit(ctx, tag) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- names --------------------------------------------------------------------------------- */

#define ALIAS_COLUMNS "name, cid, sender, decision, height"

static void read_alias(sqlite3_stmt *stmt, pctl_alias_row *out)
{
	memset(out, 0, sizeof(*out));
	pctl_cursor_text(stmt, 0, out->name, sizeof(out->name));
	pctl_cursor_text(stmt, 1, out->cid, sizeof(out->cid));
	pctl_cursor_text(stmt, 2, out->sender, sizeof(out->sender));
	out->decision = (uint64_t)sqlite3_column_int64(stmt, 3);
	out->height = (uint64_t)sqlite3_column_int64(stmt, 4);
}

/* The last decision about a name; out->decision is 0 when there is none. */
static pctl_status last_decision(pctl_chain_state *s, const char *name, const pctl_call *call,
				 pctl_alias_row *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status =
		pctl_cursor_open(s, call, &stmt,
				 "SELECT " ALIAS_COLUMNS " FROM aliases WHERE name = ? "
				 "ORDER BY decision DESC LIMIT 1",
				 "t", name);

	memset(out, 0, sizeof(*out));
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		read_alias(stmt, out);
	sqlite3_finalize(stmt);
	return status;
}

pctl_status pctl_aliases_read(pctl_chain_state *s, const char *name, const pctl_call *call,
			      pctl_alias_row *out)
{
	pctl_status status = last_decision(s, name, call, out);

	return status == PCTL_OK && out->decision == 0
		       ? pctl_refuse(call, PC5822_ALIAS_UNKNOWN, "no alias \"%.80s\"", name)
		       : status;
}

/* The last block in which the name is its account's; no row: for ever. */
static pctl_status term_of(pctl_chain_state *s, const char *name, const pctl_call *call,
			   uint64_t *out)
{
	sqlite3_stmt *stmt = NULL;
	int more = 0;
	pctl_status status = pctl_cursor_keep(
		s, call, &stmt, "SELECT until FROM alias_terms WHERE name = ?", "t", name);

	*out = PCTL_CHAIN_HEIGHT_MAX;
	if (status == PCTL_OK)
		status = pctl_cursor_next(s, stmt, call, &more);
	if (status == PCTL_OK && more)
		*out = (uint64_t)sqlite3_column_int64(stmt, 0);
	pctl_cursor_done(stmt);
	return status;
}

pctl_status pctl_aliases_at(pctl_chain_state *s, const char *name, uint64_t height,
			    const pctl_call *call, pctl_alias_row *out)
{
	uint64_t until = 0;
	pctl_status status = pctl_aliases_read(s, name, call, out);

	if (status == PCTL_OK)
		status = term_of(s, name, call, &until);
	return status == PCTL_OK && until < height
		       ? pctl_refuse(call, PC5822_ALIAS_UNKNOWN,
				     "the time of alias \"%.80s\" was over with block %llu", name,
				     (unsigned long long)until)
		       : status;
}

pctl_status pctl_aliases_list(pctl_chain_state *s, pctl_aliases_visit visit, void *ctx,
			      const pctl_call *call)
{
	sqlite3_stmt *stmt = NULL;
	pctl_alias_row row;
	int more = 1;
	pctl_status status = pctl_cursor_open(
		s, call, &stmt, "SELECT " ALIAS_COLUMNS " FROM aliases ORDER BY name, decision",
		"");

	while (status == PCTL_OK) {
		status = pctl_cursor_next(s, stmt, call, &more);
		if (status != PCTL_OK || !more)
			break;
		read_alias(stmt, &row);
		if (visit(ctx, &row) != 0)
			break;
	}
	sqlite3_finalize(stmt);
	return status;
}

/* ---- decisions ----------------------------------------------------------------------------- */

static pctl_status add_edge(const pctl_taking *t, uint32_t kind, const char *source,
			    const char *target, const char *via)
{
	const pctl_edge e = {.kind = kind,
			     .source = source,
			     .target = target,
			     .via = via,
			     .job = "",
			     .height = t->height,
			     .clock = t->clock};

	if (source == NULL || via == NULL)
		return pctl_no_memory(t->call, "an edge");
	return pctl_edges_add(t->s, &e, t->call);
}

/* Whoever holds it pays each time; a name that version 1 gave away has no term until its account pays. */
static pctl_status pay_alias(const pctl_taking *t, const pctl_msg_name *m)
{
	const uint64_t *v = t->params.values;
	pctl_status status =
		pctl_ledger_pay(t->s, m->sender, v[PCTL_PARAM_ALIAS_COST], PCTL_PPM, t->call);

	return status == PCTL_OK
		       ? pctl_cursor_write(t->s, t->call,
					   "INSERT OR REPLACE INTO alias_terms VALUES (?, ?)", "th",
					   m->name, t->height + v[PCTL_PARAM_ALIAS_BLOCKS])
		       : status;
}

static pctl_status take_alias(const pctl_taking *t, const pctl_msg_name *m)
{
	const int has_terms = pctl_params_has_stakes(&t->params);
	uint64_t until = PCTL_CHAIN_HEIGHT_MAX;
	pctl_alias_row last;
	uint64_t deprecated;
	int found;
	pctl_status status = pctl_shaders_look(t->s, m->cid, t->call, &found, &deprecated);

	if (status == PCTL_OK && !found)
		status = unknown(m->cid, t->call);
	/* Who uploaded a text first need not be who wrote it: from version 2 on his word stops nobody. */
	if (status == PCTL_OK && deprecated != 0 && !has_terms)
		status = pctl_refuse(t->call, PC5805_SHADER_DEPRECATED,
				     "shader %s is deprecated since height %llu", m->cid,
				     (unsigned long long)deprecated);
	if (status == PCTL_OK)
		status = last_decision(t->s, m->name, t->call, &last);
	if (status == PCTL_OK && has_terms)
		status = term_of(t->s, m->name, t->call, &until);
	if (status == PCTL_OK && last.decision != 0 && strcmp(last.sender, m->sender) != 0 &&
	    until >= t->height)
		status = pctl_refuse(t->call, PC5821_ALIAS_OWNER, "alias \"%s\" belongs to %s",
				     m->name, last.sender);
	if (status == PCTL_OK && has_terms)
		status = pay_alias(t, m);
	/* nothing to decide */
	if (status != PCTL_OK ||
	    (strcmp(last.cid, m->cid) == 0 && strcmp(last.sender, m->sender) == 0))
		return status;
	status = pctl_cursor_write(t->s, t->call, "INSERT INTO aliases VALUES (?, ?, ?, ?, ?)",
				   "thtth", m->name, last.decision + 1, m->cid, m->sender,
				   t->height);
	return status == PCTL_OK
		       ? add_edge(t, PCTL_EDGE_ALIAS,
				  pctl_arena_printf(t->arena, "alias:%s", m->name), m->cid,
				  pctl_arena_printf(t->arena, "account:%s", m->sender))
		       : status;
}

static pctl_status take_deprecate(const pctl_taking *t, const pctl_msg_name *m)
{
	pctl_shader_row row;
	int is_engines = 0;
	pctl_status status = pctl_shaders_read(t->s, m->cid, t->call, &row);

	if (status != PCTL_OK)
		return status;
	pctl_shader_row_clear(&row);
	if (pctl_params_has_stakes(&t->params))
		status = pctl_epoch_is_shader(m->cid, t->call, &is_engines);
	if (status == PCTL_OK && is_engines)
		status = pctl_refuse(t->call, PC5895_ENGINE_SHADER, "shader %s", m->cid);
	if (status != PCTL_OK)
		return status;
	if (strcmp(row.sender, m->sender) != 0)
		return pctl_refuse(t->call, PC5823_SHADER_OWNER, "shader %s was uploaded by %s",
				   m->cid, row.sender);
	if (row.deprecated != 0)
		return PCTL_OK;
	status = pctl_cursor_write(t->s, t->call, "UPDATE shaders SET deprecated = ? WHERE cid = ?",
				   "ht", t->height, m->cid);
	return status == PCTL_OK
		       ? add_edge(t, PCTL_EDGE_DEPRECATED,
				  pctl_arena_printf(t->arena, "account:%s", m->sender), m->cid, "")
		       : status;
}

pctl_status pctl_apply_name(const pctl_taking *t, const pctl_msg_name *m)
{
	return m->op == PCTL_NAME_ALIAS ? take_alias(t, m) : take_deprecate(t, m);
}
