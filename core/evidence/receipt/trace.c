/* Implementation of trace.h. */
#include "evidence/receipt/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "foundation/diag/diag.h"
#include "evidence/receipt/tree.h"

static const char *const level_names[] = {"job", "round", "step"};

const char *pctl_trace_level_name(uint32_t level)
{
	return level < 3 ? level_names[level] : "?";
}

int pctl_trace_level_parse(const char *text, uint32_t *out)
{
	for (*out = 0; *out < 3; (*out)++)
		if (strcmp(text, level_names[*out]) == 0)
			return 1;
	return 0;
}

const char *pctl_trace_place(const pctl_trace_leaf *leaf, char out[PCTL_TRACE_PLACE])
{
	if (leaf->level == PCTL_WATCH_JOBS)
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\"", leaf->id);
	else if (leaf->level == PCTL_WATCH_ROUNDS)
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\", round %" PRIu64, leaf->id,
			 leaf->round);
	else
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\", round %" PRIu64 ", step %" PRIu32,
			 leaf->id, leaf->round, leaf->step);
	return out;
}

/* ---- making ------------------------------------------------------------------------------- */

static pctl_status hash_port(const pctl_run_observation *view, uint32_t port, const pctl_call *call,
			     pctl_cid *out)
{
	const uint64_t n = view->ports[port].n_bytes;
	const uint64_t n_piece = n < PCTL_SOURCE_PIECE ? n : PCTL_SOURCE_PIECE;
	uint8_t *piece = malloc(n_piece + 1);
	pctl_hasher *h = NULL;
	pctl_status status =
		piece == NULL ? pctl_no_memory(call, "a trace") : pctl_hasher_create(call, &h);

	for (uint64_t at = 0; status == PCTL_OK && at < n;) {
		const uint64_t now = n - at < n_piece ? n - at : n_piece;

		status = pctl_run_observation_read(view, port, at, piece, now, call);
		if (status == PCTL_OK)
			status = pctl_hasher_update(h, piece, now);
		at += now;
	}
	if (status == PCTL_OK)
		status = pctl_hasher_finish(h, out);
	else
		pctl_hasher_destroy(h);
	free(piece);
	return status;
}

int pctl_trace_leaf_spell(pctl_arena *arena, pctl_trace_leaf *leaf)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_str_addf(&s, "%" PRIu32 " %s ", leaf->job, leaf->id);
	if (leaf->level == PCTL_WATCH_JOBS)
		pctl_str_add(&s, "-");
	else
		pctl_str_addf(&s, "%" PRIu64, leaf->round);
	if (leaf->level == PCTL_WATCH_STEPS)
		pctl_str_addf(&s, " %" PRIu32, leaf->step);
	else
		pctl_str_add(&s, " -");
	for (uint32_t i = 0; i < leaf->n_buffers; i++)
		pctl_str_addf(&s, " %s=%" PRIu64 ":%s", leaf->buffers[i].name,
			      leaf->buffers[i].n_bytes,
			      pctl_digest_hex(leaf->buffers[i].cid.digest, hex));
	leaf->line = s.failed ? NULL : pctl_arena_dup_n(arena, s.data, s.n);
	pctl_str_drop(&s);
	return leaf->line != NULL;
}

pctl_status pctl_run_trace_leaf(pctl_arena *arena, const pctl_run_observation *view,
				const pctl_call *call, pctl_trace_leaf *out)
{
	pctl_trace_buffer *buffers =
		pctl_arena_array(arena, view->n_ports + (size_t)1, sizeof(*buffers));
	pctl_status status = buffers == NULL ? pctl_no_memory(call, "a trace") : PCTL_OK;

	*out = (pctl_trace_leaf){.id = pctl_arena_dup(arena, view->ran->id),
				 .buffers = buffers,
				 .job = view->job,
				 .level = view->level,
				 .step = view->step,
				 .n_buffers = view->n_ports,
				 .round = view->round};
	for (uint32_t i = 0; status == PCTL_OK && i < view->n_ports; i++) {
		const pctl_run_port *p = &view->ports[i];

		buffers[i].name = p->kind == PCTL_PLAN_OUTPUT
					  ? pctl_arena_dup(arena, p->name)
					  : pctl_arena_printf(arena, "#%" PRIu32, p->number);
		buffers[i].n_bytes = p->n_bytes;
		status = buffers[i].name == NULL ? pctl_no_memory(call, "a trace")
						 : hash_port(view, i, call, &buffers[i].cid);
	}
	if (status == PCTL_OK && (out->id == NULL || !pctl_trace_leaf_spell(arena, out)))
		status = pctl_no_memory(call, "a trace");
	return status;
}

void pctl_run_trace_begin(pctl_run_trace *t, pctl_arena *arena)
{
	*t = (pctl_run_trace){.arena = arena};
}

static int make_room(pctl_run_trace *t)
{
	const uint32_t cap = t->cap == 0 ? 64 : 2 * t->cap;
	pctl_trace_leaf *grown;

	if (t->n < t->cap)
		return 1;
	grown = pctl_arena_array(t->arena, cap, sizeof(*grown));
	if (grown == NULL)
		return 0;
	if (t->n != 0)
		memcpy(grown, t->leaves, t->n * sizeof(*grown));
	t->leaves = grown;
	t->cap = cap;
	return 1;
}

pctl_status pctl_run_trace_add(pctl_run_trace *t, const pctl_run_observation *view,
			       const pctl_call *call)
{
	pctl_status status;

	if (t->n == PCTL_TRACE_LEAVES_MAX)
		return pctl_refuse(call, PC5905_RECEIPT_TRACE_LARGE,
				   "more than %u steps, rounds and jobs", PCTL_TRACE_LEAVES_MAX);
	if (!make_room(t))
		return pctl_no_memory(call, "a trace");
	status = pctl_run_trace_leaf(t->arena, view, call, &t->leaves[t->n]);
	t->n += status == PCTL_OK;
	return status;
}

pctl_status pctl_run_trace_watch(void *trace, const pctl_run_observation *view,
				 const pctl_call *call)
{
	return pctl_run_trace_add(trace, view, call);
}

pctl_status pctl_run_trace_finish(pctl_run_trace *t, const pctl_call *call)
{
	uint8_t(*hashes)[PCTL_DIGEST_BYTES] = calloc(t->n + (size_t)1, PCTL_DIGEST_BYTES);
	pctl_status status = hashes == NULL ? pctl_no_memory(call, "a trace") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < t->n; i++)
		status = pctl_tree_leaf(t->leaves[i].line, strlen(t->leaves[i].line), call,
					hashes[i]);
	if (status == PCTL_OK)
		status = pctl_tree_root((const uint8_t(*)[PCTL_DIGEST_BYTES])hashes, t->n, call,
					t->root);
	free(hashes);
	return status;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The next word of a line, cut off at its blank; NULL: none. */
static char *word(char **at)
{
	char *from = *at, *blank = strchr(from, ' ');

	if (from[0] == '\0')
		return NULL;
	*at = blank == NULL ? from + strlen(from) : blank + 1;
	if (blank != NULL)
		*blank = '\0';
	return from;
}

static int number(const char *text, uint64_t most, uint64_t *out)
{
	return text != NULL && pctl_num_parse_u64(text, strlen(text), out) && *out <= most;
}

static int take_buffer(char *text, pctl_trace_buffer *out)
{
	char *equals = strchr(text, '='), *colon = strchr(text, ':');

	if (equals == NULL || colon == NULL || colon < equals)
		return 0;
	*equals = *colon = '\0';
	out->name = text;
	return number(equals + 1, UINT64_MAX, &out->n_bytes) &&
	       pctl_digest_parse_hex(colon + 1, out->cid.digest);
}

static int take_line(char *at, pctl_arena *arena, pctl_trace_leaf *out)
{
	const char *job = word(&at), *round, *step;
	pctl_trace_buffer *buffers;
	uint64_t v = 0;
	size_t n = 1;

	out->id = word(&at);
	round = word(&at);
	step = word(&at);
	if (step == NULL || !number(job, UINT32_MAX, &v))
		return 0;
	out->job = (uint32_t)v;
	out->level = strcmp(round, "-") == 0  ? PCTL_WATCH_JOBS
		     : strcmp(step, "-") == 0 ? PCTL_WATCH_ROUNDS
					      : PCTL_WATCH_STEPS;
	if (out->level != PCTL_WATCH_JOBS && !number(round, UINT64_MAX, &out->round))
		return 0;
	if (out->level == PCTL_WATCH_STEPS && !number(step, UINT32_MAX, &v))
		return 0;
	out->step = out->level == PCTL_WATCH_STEPS ? (uint32_t)v : 0;
	for (const char *c = at; *c != '\0'; c++)
		n += *c == ' ';
	buffers = pctl_arena_array(arena, n, sizeof(*buffers));
	out->buffers = buffers;
	for (char *w; buffers != NULL && (w = word(&at)) != NULL;)
		if (!take_buffer(w, &buffers[out->n_buffers++]))
			return 0;
	return buffers != NULL;
}

int pctl_run_trace_read(pctl_run_trace *t, pctl_arena *arena, const char *const *lines, uint32_t n)
{
	pctl_run_trace_begin(t, arena);
	if (n > PCTL_TRACE_LEAVES_MAX)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		char *copy = pctl_arena_dup(arena, lines[i]);

		if (copy == NULL || !make_room(t))
			return 0;
		t->leaves[i] = (pctl_trace_leaf){.line = NULL};
		if (!take_line(copy, arena, &t->leaves[i]) ||
		    !pctl_trace_leaf_spell(arena, &t->leaves[i]) ||
		    strcmp(t->leaves[i].line, lines[i]) != 0)
			return 0;
		t->n++;
	}
	return 1;
}
