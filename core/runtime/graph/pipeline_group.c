/* Groups of jobs: a turn of one is its jobs read once more, with the turn's number in their strings and its prefix before their
 * ids. What a group hands on is found when all is read, since a reference may stand before the group. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/base/str.h"
#include "runtime/graph/pipeline_private.h"

void pctl_pipe_enter(pctl_pipe_reader *r, const pctl_pipe_turn *turn)
{
	const char *of = NULL;

	r->turn = turn;
	if (turn != NULL && turn->prefix[0] != '\0')
		of = pctl_arena_dup_n(r->p->arena, turn->prefix, strlen(turn->prefix) - 1);
	pctl_pipe_once_of(r->once, of);
}

/* ---- numbers in strings -------------------------------------------------------------------- */

static int index_value(const pctl_pipe_turn *t, const char *name, size_t n, uint64_t *out)
{
	for (; t != NULL; t = t->outer) {
		if (t->index == NULL || strlen(t->index) != n || memcmp(t->index, name, n) != 0)
			continue;
		*out = t->number;
		return 1;
	}
	return 0;
}

/* A sum of products of numbers and indices, up to the closing brace: what stands behind it, or NULL. */
static const char *read_sum(const pctl_pipe_turn *t, const char *s, uint64_t *out)
{
	uint64_t sum = 0, product = 1, value;

	for (;;) {
		size_t n = 0;

		while (isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '-')
			n++;
		if (n == 0 ||
		    (isdigit((unsigned char)*s) ? !pctl_num_parse_u64(s, n, &value)
						: !index_value(t, s, n, &value)) ||
		    !pctl_num_mul(product, value, &product))
			return NULL;
		s += n;
		if (*s == '*') {
			s++;
			continue;
		}
		if (!pctl_num_add(sum, product, &sum) || (*s != '+' && *s != '}'))
			return NULL;
		product = 1;
		if (*s++ == '}')
			break;
	}
	*out = sum;
	return s;
}

const char *pctl_pipe_text(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	const char *at, *out = NULL, *end;
	uint64_t number;

	if (v == NULL || r->turn == NULL || v->kind != PCTL_CONF_STRING ||
	    strchr(v->text, '{') == NULL)
		return v == NULL ? NULL : pctl_pipe_dup(r, v->text);
	for (at = v->text; *at != '\0';) {
		const size_t n = strcspn(at, "{");

		pctl_str_add_n(&s, at, n);
		at += n;
		if (*at == '\0')
			break;
		end = read_sum(r->turn, at + 1, &number);
		if (end == NULL) {
			pctl_pipe_keep(
				r, pctl_refuse_at(
					   r->call, PC4008_TURN_NUMBER, &v->pos,
					   "write {i} with the `index` of a group around it, or "
					   "sums of products, {6*g+i+1}",
					   "in \"%s\" braces do not hold a number of a turn",
					   v->text));
			break;
		}
		pctl_str_addf(&s, "%" PRIu64, number);
		at = end;
	}
	if (!s.failed)
		out = pctl_pipe_dup(r, s.data == NULL ? "" : s.data);
	else
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	pctl_str_drop(&s);
	return out == NULL ? "" : out;
}

/* ---- names --------------------------------------------------------------------------------- */

/* "norm" is an id of the group, and so is "inner.0.norm" where it has a group "inner". */
static int has_job(const pctl_pipe_turn *t, const char *id)
{
	for (uint32_t i = 0; i < pctl_pipe_count(t->jobs); i++) {
		const char *own = pctl_conf_get(t->jobs->items[i], "id")->text;
		const size_t n = strlen(own);

		if (strncmp(own, id, n) == 0 && (id[n] == '\0' || id[n] == '.'))
			return 1;
	}
	return 0;
}

const char *pctl_pipe_job_name(pctl_pipe_reader *r, const char *id)
{
	const pctl_pipe_turn *t = r->turn;
	const char *full;

	while (t != NULL && !has_job(t, id))
		t = t->outer;
	full = t == NULL ? id : pctl_arena_printf(r->p->arena, "%s%s", t->prefix, id);
	if (full == NULL)
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	return full == NULL ? "" : full;
}

/* ---- groups -------------------------------------------------------------------------------- */

static void refuse_group(pctl_pipe_reader *r, const pctl_pos *pos, const char *hint, const char *id,
			 const char *what)
{
	pctl_pipe_keep(
		r, pctl_refuse_at(r->call, PC4007_GROUP, pos, hint, "group \"%s\" %s", id, what));
}

/* A group is its jobs: what is said of a job that runs something is not for it. */
static int is_group(pctl_pipe_reader *r, const pctl_conf_value *v, const char *id)
{
	const pctl_conf_value *repeat = pctl_conf_get(v, "repeat"),
			      *start = pctl_conf_get(repeat, "start"),
			      *carry = pctl_conf_get(repeat, "carry");
	const pctl_status before = r->status;

	r->status = PCTL_OK;
	for (uint32_t i = 0; i < v->n_items; i++) {
		const char *key = v->items[i]->key;

		if (strcmp(key, "id") != 0 && strcmp(key, "repeat") != 0 &&
		    strcmp(key, "jobs") != 0)
			refuse_group(r, &v->items[i]->key_pos, "give it to the jobs within", id,
				     pctl_arena_printf(r->p->arena, "takes no `%s`", key));
	}
	if (repeat == NULL)
		refuse_group(r, &v->pos, "add repeat : { count = 1; };", id, "has no `repeat`");
	for (uint32_t i = 0; i < pctl_pipe_count(carry); i++) {
		if (pctl_conf_get(start, carry->items[i]->key) == NULL)
			refuse_group(r, &carry->items[i]->key_pos,
				     "say under `start` what the first turn has", id,
				     pctl_arena_printf(r->p->arena,
						       "carries \"%s\", which starts as nothing",
						       carry->items[i]->key));
	}
	for (uint32_t i = 0; i < pctl_pipe_count(start); i++) {
		if (pctl_conf_get(carry, start->items[i]->key) == NULL)
			refuse_group(
				r, &start->items[i]->key_pos,
				"say under `carry` what the next turn has, or refer to it itself",
				id,
				pctl_arena_printf(r->p->arena, "starts \"%s\", which goes nowhere",
						  start->items[i]->key));
	}
	if (r->status != PCTL_OK) {
		pctl_pipe_keep(r, before);
		return 0;
	}
	r->status = before;
	return 1;
}

static int is_too_much(pctl_pipe_reader *r, const pctl_conf_value *count, const char *id)
{
	if (r->turns++ < PCTL_PIPELINE_JOBS_MAX)
		return r->is_full != 0;
	if (!r->is_full)
		pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4023_JOBS_MOST, &count->pos, NULL,
						 "with group \"%s\" these are more than the %u "
						 "turns that a pipeline can have",
						 id, PCTL_PIPELINE_JOBS_MAX));
	r->is_full = 1;
	return 1;
}

/* What the turn hands on: of each name the reference, absolute. */
static const char **hand_on(pctl_pipe_reader *r, const pctl_conf_value *carry)
{
	const uint32_t n = pctl_pipe_count(carry);
	const char **out = pctl_pipe_table(r, n, sizeof(*out));

	for (uint32_t i = 0; out != NULL && i < n; i++) {
		out[i] = pctl_pipe_ref_text(r, carry->items[i]);
		if (out[i] == NULL)
			return NULL;
	}
	return out;
}

/* In the order of `carry`. */
static const char **start_with(pctl_pipe_reader *r, const pctl_conf_value *repeat)
{
	const pctl_conf_value *carry = pctl_conf_get(repeat, "carry");
	const uint32_t n = pctl_pipe_count(carry);
	const char **out = pctl_pipe_table(r, n, sizeof(*out));

	for (uint32_t i = 0; out != NULL && i < n; i++) {
		out[i] = pctl_pipe_ref_text(
			r, pctl_conf_get(pctl_conf_get(repeat, "start"), carry->items[i]->key));
		if (out[i] == NULL)
			return NULL;
	}
	return out;
}

/* Behind the group its names are what the last turn handed on. */
static void leave(pctl_pipe_reader *r, const char *full, const pctl_conf_value *carry,
		  const char **carried)
{
	for (uint32_t i = 0; i < pctl_pipe_count(carry); i++) {
		char *key = pctl_arena_printf(r->p->arena, "%s.%s", full, carry->items[i]->key);

		if (key != NULL && pctl_map_has(r->carried, key))
			continue; /* two groups of one id: their jobs are refused */
		if (key == NULL || !pctl_map_put(r->carried, key, (void *)(uintptr_t)carried[i]))
			pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
	}
}

void pctl_pipe_read_group(pctl_pipe_reader *r, const pctl_conf_value *v)
{
	const pctl_conf_value *repeat = pctl_conf_get(v, "repeat"),
			      *count = pctl_conf_get(repeat, "count"),
			      *jobs = pctl_conf_get(v, "jobs");
	const pctl_pipe_turn *outer = r->turn;
	const char *full =
		pctl_arena_printf(r->p->arena, "%s%s", outer == NULL ? "" : outer->prefix,
				  pctl_conf_get(v, "id")->text);
	pctl_pipe_turn turn = {.outer = outer,
			       .jobs = jobs,
			       .carry = pctl_conf_get(repeat, "carry"),
			       .index = pctl_conf_string_or(repeat, "index", NULL)};
	const char **carried;
	char what[160];
	uint64_t times;

	if (full == NULL) {
		pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
		return;
	}
	(void)snprintf(what, sizeof(what), "group \"%s\"", full);
	if (!is_group(r, v, full) || !pctl_pipe_count_of(r, count, what, &times))
		return;
	carried = start_with(r, repeat);
	for (uint64_t i = 0; carried != NULL && i < times && !is_too_much(r, count, full); i++) {
		turn.number = i;
		turn.carried = carried;
		turn.prefix = pctl_arena_printf(r->p->arena, "%s.%" PRIu64 ".", full, i);
		if (turn.prefix == NULL) {
			pctl_pipe_keep(r, pctl_no_memory(r->call, "a pipeline"));
			break;
		}
		pctl_pipe_enter(r, &turn);
		for (uint32_t k = 0; k < jobs->n_items; k++)
			pctl_pipe_read_entry(r, jobs->items[k]);
		carried = hand_on(r, turn.carry);
		pctl_pipe_enter(r, outer);
	}
	if (carried != NULL)
		leave(r, full, turn.carry, carried);
}

/* ---- what groups hand on ------------------------------------------------------------------- */

static void resolve(pctl_pipe_reader *r, pctl_pipe_ref *ref)
{
	uint32_t most = pctl_map_count(r->carried);
	const char *text = ref->text;

	while (pctl_map_has(r->carried, text)) {
		if (most-- == 0) {
			pctl_pipe_keep(r, pctl_refuse_at(r->call, PC4101_CYCLE, &ref->pos,
							 "start one of them with something else",
							 "\"%s\" is what groups start each other "
							 "with, and never anything",
							 text));
			return;
		}
		text = pctl_map_get(r->carried, text);
	}
	if (text != ref->text && !pctl_pipe_ref_parse(r, text, ref))
		pctl_pipe_keep(r, PCTL_E_INTERNAL);
	if (ref->job == NULL && strchr(ref->text, '/') != NULL)
		pctl_pipe_want_tensor(r, ref);
}

void pctl_pipe_resolve(pctl_pipe_reader *r)
{
	for (uint32_t i = 0; i < r->jobs.n; i++) {
		const pctl_pipe_job *job = &r->jobs.items[i];

		pctl_pipe_once_of(r->once, job->is_of_group ? job->id : NULL);
		for (uint32_t k = 0; k < job->n_in; k++)
			resolve(r, &job->in[k].from);
	}
	pctl_pipe_once_of(r->once, NULL);
	for (uint32_t i = 0; i < r->outputs.n; i++)
		resolve(r, &r->outputs.items[i].from);
}
