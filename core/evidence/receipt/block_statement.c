/* Statements of a block's jobs as lines, and the block's file of them. */
#include "evidence/receipt/block_receipt.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/num.h"
#include "foundation/diag/diag.h"

static const char opening[] = PCTL_BLOCK_RECEIPTS_SCHEMA "\n";

static pctl_status malformed(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC5920_BLOCK_STATEMENT, "%s", what);
}

/* ---- writing ------------------------------------------------------------------------------ */

static int is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return 0;
	return 1;
}

static const char *fault_of(const pctl_block_statement *s)
{
	if (s->complete > 1 || s->has_uniform > 1)
		return "a flag is neither 0 nor 1";
	if (s->n_inputs > PCTL_BLOCK_INPUTS_MAX)
		return "a statement has too many inputs";
	for (uint32_t i = 1; i < s->n_inputs; i++) {
		const pctl_block_input *a = &s->inputs[i - 1], *b = &s->inputs[i];

		if (a->group > b->group || (a->group == b->group && a->binding >= b->binding))
			return "inputs do not ascend by group and binding";
	}
	if (s->complete)
		return s->error != NULL && s->error[0] != '\0' ? "a complete job has an error"
							       : NULL;
	if (s->error == NULL || s->error[0] == '\0' || !is_plain(s->error))
		return "a failed job has no error, or one with control characters";
	return s->n_inputs != 0 || s->has_uniform || s->n_output != 0
		       ? "a failed job has inputs or an output"
		       : NULL;
}

pctl_status pctl_block_statement_text(const pctl_block_statement *s, const pctl_call *call,
				      pctl_str_buf *out)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1], cid[PCTL_CID_TEXT_SIZE];
	const char *fault = fault_of(s);

	if (fault != NULL)
		return malformed(call, fault);
	pctl_str_addf(out, "%s %s", pctl_digest_hex(s->job, hex),
		      s->complete ? "complete" : "failed");
	pctl_str_addf(out, " request %s", pctl_digest_hex(s->request, hex));
	pctl_str_addf(out, " program %s", pctl_cid_format(&s->program, cid));
	pctl_str_addf(out, " groups %" PRIu32 ",%" PRIu32 ",%" PRIu32 " gas %" PRIu64, s->groups[0],
		      s->groups[1], s->groups[2], s->gas);
	for (uint32_t i = 0; i < s->n_inputs; i++)
		pctl_str_addf(out, " %" PRIu32 ":%" PRIu32 " %s", s->inputs[i].group,
			      s->inputs[i].binding, pctl_cid_format(&s->inputs[i].cid, cid));
	if (s->has_uniform)
		pctl_str_addf(out, " uniform %s", pctl_digest_hex(s->uniform, hex));
	if (s->complete)
		pctl_str_addf(out, " output %" PRIu64 " %s", s->n_output,
			      pctl_cid_format(&s->output, cid));
	else
		pctl_str_addf(out, " error %s", s->error);
	return out->failed ? pctl_refuse(call, PC2_NOMEM, "no memory for a receipt") : PCTL_OK;
}

/* ---- reading ------------------------------------------------------------------------------ */

/* The next word, ended by a blank or the end; NULL: none. It stays in the copied line. */
static char *word(char **at)
{
	char *from = *at, *end = strchr(from, ' ');

	if (from[0] == '\0')
		return NULL;
	*at = end == NULL ? from + strlen(from) : end + 1;
	if (end != NULL)
		*end = '\0';
	return from;
}

static int is_word(char **at, const char *want)
{
	const char *w = word(at);

	return w != NULL && strcmp(w, want) == 0;
}

static int digest(char **at, uint8_t out[PCTL_DIGEST_BYTES])
{
	const char *w = word(at);

	return w != NULL && pctl_digest_parse_hex(w, out);
}

static int cid(char **at, pctl_cid *out)
{
	const char *w = word(at);

	return w != NULL && pctl_cid_parse(w, out);
}

static int number(const char *text, uint64_t most, uint64_t *out)
{
	return text != NULL && pctl_num_parse_u64(text, strlen(text), out) && *out <= most;
}

static int groups(char *text, uint32_t out[3])
{
	for (uint32_t i = 0; i < 3; i++) {
		char *comma = text == NULL ? NULL : strchr(text, ',');
		uint64_t v;

		if (comma != NULL)
			*comma = '\0';
		if (!number(text, UINT32_MAX, &v))
			return 0;
		out[i] = (uint32_t)v;
		text = comma == NULL ? NULL : comma + 1;
	}
	return text == NULL;
}

static int binding(char *text, pctl_block_input *out)
{
	char *colon = strchr(text, ':');
	uint64_t group, number_in;

	if (colon == NULL)
		return 0;
	*colon = '\0';
	if (!number(text, UINT32_MAX, &group) || !number(colon + 1, UINT32_MAX, &number_in))
		return 0;
	out->group = (uint32_t)group;
	out->binding = (uint32_t)number_in;
	return 1;
}

/* Behind the gas: inputs, uniform, output or error. */
static int take_end(char *at, pctl_block_input *inputs, pctl_block_statement *out)
{
	char *w;

	while ((w = word(&at)) != NULL) {
		if (strcmp(w, "uniform") == 0) {
			out->has_uniform = 1;
			if (!digest(&at, out->uniform))
				return 0;
		} else if (strcmp(w, "output") == 0) {
			return number(word(&at), UINT64_MAX, &out->n_output) &&
			       cid(&at, &out->output) && *at == '\0';
		} else if (strcmp(w, "error") == 0) {
			out->error = at;
			return 1;
		} else if (out->n_inputs == PCTL_BLOCK_INPUTS_MAX ||
			   !binding(w, &inputs[out->n_inputs]) ||
			   !cid(&at, &inputs[out->n_inputs++].cid)) {
			return 0;
		}
	}
	return 0;
}

static int take_line(char *at, pctl_arena *arena, pctl_block_statement *out)
{
	pctl_block_input *inputs = pctl_arena_array(arena, PCTL_BLOCK_INPUTS_MAX, sizeof(*inputs));
	const char *status;

	if (inputs == NULL || !digest(&at, out->job) || (status = word(&at)) == NULL)
		return 0;
	out->complete = strcmp(status, "complete") == 0;
	out->inputs = inputs;
	out->error = "";
	return is_word(&at, "request") && digest(&at, out->request) && is_word(&at, "program") &&
	       cid(&at, &out->program) && is_word(&at, "groups") &&
	       groups(word(&at), out->groups) && is_word(&at, "gas") &&
	       number(word(&at), UINT64_MAX, &out->gas) && take_end(at, inputs, out);
}

pctl_status pctl_block_statement_read(const char *line, size_t n, pctl_arena *arena,
				      const pctl_call *call, pctl_block_statement *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	char *copy = memchr(line, '\0', n) != NULL ? NULL : pctl_arena_dup_n(arena, line, n);
	int good;

	memset(out, 0, sizeof(*out));
	good = copy != NULL && take_line(copy, arena, out) &&
	       pctl_block_statement_text(out, &quiet, &again) == PCTL_OK && again.n == n &&
	       memcmp(again.data, line, n) == 0;
	pctl_str_drop(&again);
	if (good)
		return PCTL_OK;
	memset(out, 0, sizeof(*out));
	return malformed(call, "a line is no statement of a job");
}

/* ---- all of a block ----------------------------------------------------------------------- */

static int by_job(const void *a, const void *b)
{
	const pctl_block_statement *const *x = a, *const *y = b;

	return memcmp((*x)->job, (*y)->job, PCTL_DIGEST_BYTES);
}

static pctl_status check_jobs(const pctl_block_statements *s, const pctl_call *call)
{
	const pctl_block_statement **sorted = calloc(s->n + (size_t)1, sizeof(*sorted));
	pctl_status status = PCTL_OK;

	if (sorted == NULL)
		return pctl_refuse(call, PC2_NOMEM, "no memory for a receipt");
	for (uint32_t i = 0; i < s->n; i++)
		sorted[i] = &s->items[i];
	qsort(sorted, s->n, sizeof(*sorted), by_job);
	for (uint32_t i = 1; status == PCTL_OK && i < s->n; i++)
		if (by_job(&sorted[i - 1], &sorted[i]) == 0)
			status = malformed(call, "a job stands twice in a block");
	free(sorted);
	return status;
}

/* The lines, and the root over them. */
static pctl_status add_lines(pctl_block_statements *s, const pctl_call *call, pctl_str_buf *out)
{
	uint8_t(*leaves)[PCTL_DIGEST_BYTES] = calloc(s->n + (size_t)1, PCTL_DIGEST_BYTES);
	pctl_status status =
		leaves == NULL ? pctl_refuse(call, PC2_NOMEM, "no memory for a receipt") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < s->n; i++) {
		const size_t from = out->n;

		status = pctl_block_statement_text(&s->items[i], call, out);
		if (status == PCTL_OK)
			status = pctl_tree_leaf(out->data + from, out->n - from, call, leaves[i]);
		pctl_str_add(out, "\n");
	}
	if (status == PCTL_OK)
		status = pctl_tree_root((const uint8_t(*)[PCTL_DIGEST_BYTES])leaves, s->n, call,
					s->root);
	free(leaves);
	return status;
}

pctl_status pctl_block_statements_text(pctl_block_statements *s, const pctl_call *call,
				       pctl_str_buf *out)
{
	char hex[2 * PCTL_DIGEST_BYTES + 1];
	pctl_str_buf lines = PCTL_STR_BUF_INIT;
	pctl_status status = check_jobs(s, call);

	if (status == PCTL_OK)
		status = add_lines(s, call, &lines);
	if (status == PCTL_OK) {
		pctl_str_addf(out, "%sheight %" PRIu64 "\njobs %" PRIu32 "\nroot %s\n", opening,
			      s->height, s->n, pctl_digest_hex(s->root, hex));
		pctl_str_add_n(out, lines.data == NULL ? "" : lines.data, lines.n);
		if (out->failed || lines.failed)
			status = pctl_refuse(call, PC2_NOMEM, "no memory for a receipt");
	}
	pctl_str_drop(&lines);
	return status;
}

/* "KEY NUMBER" and a line end. */
static int take_number(const char **at, const char *end, const char *key, uint64_t *out)
{
	const size_t n_key = strlen(key);
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));

	if (stop == NULL || (size_t)(stop - *at) <= n_key || memcmp(*at, key, n_key) != 0 ||
	    !pctl_num_parse_u64(*at + n_key, (size_t)(stop - *at) - n_key, out))
		return 0;
	*at = stop + 1;
	return 1;
}

/* Whatever is read here is held against what writing gives. */
static int take_all(const char *text, size_t n, pctl_arena *arena, pctl_block_statements *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	const char *at = text + sizeof(opening) - 1, *end = text + n;
	const size_t n_root = 5 + 2 * PCTL_DIGEST_BYTES + 1;
	pctl_block_statement *items;
	uint64_t jobs, lines = 0;

	if (n < sizeof(opening) || memcmp(text, opening, sizeof(opening) - 1) != 0 ||
	    !take_number(&at, end, "height ", &out->height) ||
	    !take_number(&at, end, "jobs ", &jobs) || (size_t)(end - at) < n_root)
		return 0;
	at += n_root;
	for (const char *c = at; c < end; c++)
		lines += *c == '\n';
	if (jobs != lines || jobs > UINT32_MAX - 1)
		return 0;
	items = pctl_arena_array(arena, (size_t)jobs + 1, sizeof(*items));
	for (uint32_t i = 0; items != NULL && i < jobs; i++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		if (stop == NULL || pctl_block_statement_read(at, (size_t)(stop - at), arena,
							      &quiet, &items[i]) != PCTL_OK)
			return 0;
		at = stop + 1;
	}
	out->items = items;
	out->n = (uint32_t)jobs;
	return items != NULL && at == end;
}

pctl_status pctl_block_statements_read(const char *name, const char *text, size_t n,
				       pctl_arena *arena, const pctl_call *call,
				       pctl_block_statements *out)
{
	const pctl_call quiet = {.head = PCTL_HEAD(pctl_call)};
	pctl_str_buf again = PCTL_STR_BUF_INIT;
	int good;

	memset(out, 0, sizeof(*out));
	good = take_all(text, n, arena, out) &&
	       pctl_block_statements_text(out, &quiet, &again) == PCTL_OK && again.n == n &&
	       memcmp(again.data, text, n) == 0;
	pctl_str_drop(&again);
	if (good)
		return PCTL_OK;
	memset(out, 0, sizeof(*out));
	return pctl_refuse(call, PC5920_BLOCK_STATEMENT,
			   "%s is not the canonical list of statements of a block", name);
}
