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

const char *const pctl_trace_levels[] = {"job", "round", "step"};

const char *pctl_trace_level_name(uint32_t level)
{
	return level < 3 ? pctl_trace_levels[level] : "?";
}

int pctl_trace_level_parse(const char *text, uint32_t *out)
{
	for (*out = 0; *out < 3; (*out)++)
		if (strcmp(text, pctl_trace_levels[*out]) == 0)
			return 1;
	return 0;
}

const char *pctl_trace_place(const pctl_trace_leaf *leaf, char out[PCTL_TRACE_PLACE])
{
	if (leaf->level == PCTL_TRACE_JOBS)
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\"", leaf->id);
	else if (leaf->level == PCTL_TRACE_ROUNDS)
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\", round %" PRIu64, leaf->id,
			 leaf->round);
	else
		snprintf(out, PCTL_TRACE_PLACE, "job \"%s\", round %" PRIu64 ", step %" PRIu32,
			 leaf->id, leaf->round, leaf->step);
	return out;
}

/* ---- the table ---------------------------------------------------------------------------- */

static void print_round(const void *member, char *out)
{
	const pctl_trace_leaf *leaf = member;

	if (leaf->level == PCTL_TRACE_JOBS)
		strcpy(out, "-");
	else
		sprintf(out, "%" PRIu64, leaf->round);
}

static int parse_round(const char *text, void *member)
{
	pctl_trace_leaf *leaf = member;

	leaf->level = strcmp(text, "-") == 0 ? PCTL_TRACE_JOBS : PCTL_TRACE_ROUNDS;
	return leaf->level == PCTL_TRACE_JOBS ||
	       pctl_num_parse_u64(text, strlen(text), &leaf->round);
}

static void print_step(const void *member, char *out)
{
	const pctl_trace_leaf *leaf = member;

	if (leaf->level != PCTL_TRACE_STEPS)
		strcpy(out, "-");
	else
		sprintf(out, "%" PRIu32, leaf->step);
}

static int parse_step(const char *text, void *member)
{
	pctl_trace_leaf *leaf = member;
	uint64_t step;

	if (strcmp(text, "-") == 0)
		return 1;
	if (leaf->level == PCTL_TRACE_JOBS || !pctl_num_parse_u64(text, strlen(text), &step) ||
	    step > UINT32_MAX)
		return 0;
	leaf->level = PCTL_TRACE_STEPS;
	leaf->step = (uint32_t)step;
	return 1;
}

static const pctl_record_coding round_word = {"a number or \"-\"", print_round, parse_round};
static const pctl_record_coding step_word = {"a number or \"-\"", print_step, parse_step};

static const pctl_record_field content_fields[] = {
	PCTL_RECORD_FIELD(U64, "bytes", pctl_trace_buffer, n_bytes, .means = "how many"),
	PCTL_RECORD_SIZED(HEX, "sha256", pctl_trace_buffer, cid.digest, .means = "of all of them")};
static const pctl_record_shape content =
	PCTL_RECORD_OF_LINES(content_fields, PCTL_RECORD_ROW, ':', pctl_trace_buffer);
static const pctl_record_field buffer_fields[] = {
	PCTL_RECORD_FIELD(TEXT, "name", pctl_trace_buffer, name,
			  .means = "of an output port, or `#7` for buffer 7 of the plan"),
	{.key = "content", .kind = PCTL_RECORD_GROUP, .of = &content, .means = "of it"}};
static const pctl_record_shape buffer =
	PCTL_RECORD_OF_LINES(buffer_fields, PCTL_RECORD_ROW, '=', pctl_trace_buffer);
static const pctl_record_field leaf_fields[] = {
	PCTL_RECORD_FIELD(U32, "job", pctl_trace_leaf, job, .means = "index in the pipeline"),
	PCTL_RECORD_FIELD(TEXT, "id", pctl_trace_leaf, id, .means = "name of the job"),
	{.key = "round",
	 .kind = PCTL_RECORD_CODED,
	 .coding = &round_word,
	 .means = "from 0; `-` for a whole job"},
	{.key = "step",
	 .kind = PCTL_RECORD_CODED,
	 .coding = &step_word,
	 .means = "from 1; `-` for a whole job or round"},
	PCTL_RECORD_FIELD(LIST, "buffers", pctl_trace_leaf, buffers,
			  .n_at = offsetof(pctl_trace_leaf, n_buffers), .of = &buffer,
			  .means = "that were written")};
static const pctl_record_shape leaf_row =
	PCTL_RECORD_OF_LINES(leaf_fields, PCTL_RECORD_ROW, ' ', pctl_trace_leaf);
const pctl_record_type pctl_trace_leaf_type = {
	.opening = "",
	.shape = &leaf_row,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5902_RECEIPT_CONTRADICTS,
	.contradicts = PC5902_RECEIPT_CONTRADICTS,
	.title = "Line of a trace",
	.where = "Behind the signature of a run's receipt",
};

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
	pctl_str_buf s = PCTL_STR_BUF_INIT;

	pctl_record_text(&pctl_trace_leaf_type, leaf, &s);
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

int pctl_run_trace_read(pctl_run_trace *t, pctl_arena *arena, const char *const *lines, uint32_t n)
{
	pctl_run_trace_begin(t, arena);
	if (n > PCTL_TRACE_LEAVES_MAX)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!make_room(t))
			return 0;
		t->leaves[i] = (pctl_trace_leaf){.line = NULL};
		if (pctl_record_read(&pctl_trace_leaf_type, "a trace", lines[i], strlen(lines[i]),
				     arena, NULL, &t->leaves[i]) != PCTL_OK ||
		    !pctl_trace_leaf_spell(arena, &t->leaves[i]) ||
		    strcmp(t->leaves[i].line, lines[i]) != 0)
			return 0;
		t->n++;
	}
	return 1;
}
