/* Statements of a block's jobs as lines, and the block's file of them. */
#include "evidence/receipt/block_receipt.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/cas/codings.h"

typedef pctl_block_statement statement;
typedef pctl_block_statements statements;
typedef pctl_block_input input;

/* ---- tables ------------------------------------------------------------------------------- */

static const char *const statuses[] = {"failed", "complete"};
#define NAMED .flags = PCTL_RECORD_NAMED
static const pctl_record_field binding_fields[] = {
	PCTL_RECORD_FIELD(U32, "group", input, group, .means = "of the storage variable"),
	PCTL_RECORD_FIELD(U32, "binding", input, binding, .means = "of it")};
static const pctl_record_shape binding =
	PCTL_RECORD_OF_LINES(binding_fields, PCTL_RECORD_ROW, ':', input);
static const pctl_record_field input_fields[] = {
	{.key = "at", .kind = PCTL_RECORD_GROUP, .of = &binding, .means = "where it is bound"},
	PCTL_RECORD_FIELD(CODED, "cid", input, cid, .coding = &pctl_cid_coding,
			  .means = "of its bytes")};
static const pctl_record_shape input_row =
	PCTL_RECORD_OF_LINES(input_fields, PCTL_RECORD_ROW, ' ', input);
static const pctl_record_field group_fields[] = {
	PCTL_RECORD_FIELD(U32, "x", statement, groups[0], .means = "workgroups"),
	PCTL_RECORD_FIELD(U32, "y", statement, groups[1], .means = "workgroups"),
	PCTL_RECORD_FIELD(U32, "z", statement, groups[2], .means = "workgroups")};
static const pctl_record_shape groups =
	PCTL_RECORD_OF_LINES(group_fields, PCTL_RECORD_ROW, ',', statement);
static const pctl_record_field output_fields[] = {
	PCTL_RECORD_FIELD(U64, "bytes", statement, n_output, .means = "of the output"),
	PCTL_RECORD_FIELD(CODED, "cid", statement, output, .coding = &pctl_cid_coding,
			  .means = "of it")};
static const pctl_record_shape output =
	PCTL_RECORD_OF_LINES(output_fields, PCTL_RECORD_ROW, ' ', statement);

#define WHERE(KIND, KEY, M, N, WHEN, ...)                                                        \
	PCTL_RECORD_FIELD(KIND, KEY, statement, M, .n_at = offsetof(statement, N), .when = WHEN, \
			  __VA_ARGS__)
static const pctl_record_field statement_fields[] = {
	PCTL_RECORD_SIZED(HEX, "job", statement, job, .means = "its id"),
	PCTL_RECORD_FIELD(WORD, "status", statement, complete, PCTL_RECORD_WORDS(statuses),
			  .means = "how it ended"),
	PCTL_RECORD_SIZED(HEX, "request", statement, request, NAMED,
			  .means = "SHA-256 of its execute message"),
	PCTL_RECORD_FIELD(CODED, "program", statement, program, NAMED, .coding = &pctl_cid_coding,
			  .means = "of the shader's source"),
	{.key = "groups",
	 .kind = PCTL_RECORD_GROUP,
	 .of = &groups,
	 NAMED,
	 .means = "that were dispatched"},
	PCTL_RECORD_FIELD(U64, "gas", statement, gas, NAMED, .means = "charged"),
	PCTL_RECORD_FIELD(LIST, "inputs", statement, inputs, .n_at = offsetof(statement, n_inputs),
			  .bound = PCTL_BLOCK_INPUTS_MAX, .of = &input_row,
			  .means = "ascending by group and binding"),
	WHERE(HEX, "uniform", uniform, has_uniform, 0, .bound = PCTL_DIGEST_BYTES,
	      .flags = PCTL_RECORD_NAMED | PCTL_RECORD_OPTIONAL,
	      .means = "SHA-256 of the bytes bound to 0:1"),
	{.key = "output",
	 .kind = PCTL_RECORD_GROUP,
	 .of = &output,
	 .flags = PCTL_RECORD_NAMED | PCTL_RECORD_OPTIONAL,
	 .n_at = offsetof(statement, complete),
	 .when = 1u << 1,
	 .means = "of a complete one"},
	WHERE(TEXT, "error", error, complete, 1u << 0,
	      .flags = PCTL_RECORD_NAMED | PCTL_RECORD_OPTIONAL | PCTL_RECORD_REST,
	      .means = "of one that failed, to the end of the line")};
static const pctl_record_shape statement_row =
	PCTL_RECORD_OF_LINES(statement_fields, PCTL_RECORD_ROW, ' ', statement);
const pctl_record_type pctl_block_statement_type = {
	.opening = "",
	.shape = &statement_row,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5920_BLOCK_STATEMENT,
	.contradicts = PC5920_BLOCK_STATEMENT,
	.title = "Statement of a job",
	.where = "A line of a block's receipts and of what is signed",
};

#define HEAD_FIELDS 3u
static const pctl_record_field file_fields[] = {
	PCTL_RECORD_FIELD(U64, "height", statements, height, NAMED, .means = "of the block"),
	PCTL_RECORD_FIELD(U32, "jobs", statements, n, NAMED, .means = "how many lines follow"),
	PCTL_RECORD_SIZED(HEX, "root", statements, root, NAMED,
			  .means = "of the tree over them (RFC 6962)"),
	PCTL_RECORD_FIELD(LIST, "statements", statements, items, .n_at = offsetof(statements, n),
			  .of = &statement_row, .means = "in the order of the block")};
static const pctl_record_shape file =
	PCTL_RECORD_OF_LINES(file_fields, PCTL_RECORD_LINES, ' ', statements);
const pctl_record_type pctl_block_statements_type = {
	.opening = PCTL_BLOCK_RECEIPTS_SCHEMA "\n",
	.shape = &file,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5920_BLOCK_STATEMENT,
	.contradicts = PC5920_BLOCK_STATEMENT,
	.title = "Statements of a block",
	.where = "File `receipts` of a block in the history",
};

/* The file without its statements, which are spelled once for the root and for the file. */
static const pctl_record_shape head = {.fields = file_fields,
				       .n_fields = HEAD_FIELDS,
				       .style = PCTL_RECORD_LINES,
				       .between = ' ',
				       .size = sizeof(statements)};
static const pctl_record_type head_type = {
	.opening = PCTL_BLOCK_RECEIPTS_SCHEMA "\n", .shape = &head, .quoting = PCTL_RECORD_PLAIN};

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
	const char *fault = fault_of(s);

	if (fault != NULL)
		return malformed(call, fault);
	return pctl_record_put(&pctl_block_statement_type, s, out, "a receipt", call);
}

/* ---- reading ------------------------------------------------------------------------------ */

pctl_status pctl_block_statement_read(const char *line, size_t n, pctl_arena *arena,
				      const pctl_call *call, pctl_block_statement *out)
{
	const char *fault;
	pctl_status status;

	*out = (pctl_block_statement){.error = ""};
	status = pctl_record_read_exact(&pctl_block_statement_type, "a statement", line, n, arena,
					call, out);
	if (status == PCTL_OK && (fault = fault_of(out)) != NULL)
		status = malformed(call, fault);
	if (status != PCTL_OK)
		memset(out, 0, sizeof(*out));
	return status;
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
		return pctl_no_memory(call, "a receipt");
	for (uint32_t i = 0; i < s->n; i++)
		sorted[i] = &s->items[i];
	qsort(sorted, s->n, sizeof(*sorted), by_job);
	for (uint32_t i = 1; status == PCTL_OK && i < s->n; i++)
		if (by_job(&sorted[i - 1], &sorted[i]) == 0)
			status = malformed(call, "a job stands twice in a block");
	free(sorted);
	return status;
}

/* The lines of all statements into `lines`, and the root over them. */
static pctl_status spell(pctl_block_statements *s, const pctl_call *call, pctl_str_buf *lines)
{
	uint8_t(*leaves)[PCTL_DIGEST_BYTES] = calloc(s->n + (size_t)1, PCTL_DIGEST_BYTES);
	pctl_status status = leaves == NULL ? pctl_no_memory(call, "a receipt") : PCTL_OK;

	for (uint32_t i = 0; status == PCTL_OK && i < s->n; i++) {
		const size_t from = lines->n;

		status = pctl_block_statement_text(&s->items[i], call, lines);
		if (status == PCTL_OK)
			status = pctl_tree_leaf(lines->data + from, lines->n - from, call,
						leaves[i]);
		pctl_str_add_n(lines, "\n", 1);
	}
	if (status == PCTL_OK && lines->failed)
		status = pctl_no_memory(call, "a receipt");
	if (status == PCTL_OK)
		status = pctl_tree_root((const uint8_t(*)[PCTL_DIGEST_BYTES])leaves, s->n, call,
					s->root);
	free(leaves);
	return status;
}

pctl_status pctl_block_statements_text(pctl_block_statements *s, const pctl_call *call,
				       pctl_str_buf *out)
{
	pctl_str_buf lines = PCTL_STR_BUF_INIT;
	pctl_status status = check_jobs(s, call);

	if (status == PCTL_OK)
		status = spell(s, call, &lines);
	if (status == PCTL_OK)
		status = pctl_record_put(&head_type, s, out, "a receipt", call);
	if (status == PCTL_OK && lines.n != 0)
		pctl_str_add_n(out, lines.data, lines.n);
	pctl_str_drop(&lines);
	return status == PCTL_OK && out->failed ? pctl_no_memory(call, "a receipt") : status;
}

pctl_status pctl_block_statements_read(const char *name, const char *text, size_t n,
				       pctl_arena *arena, const pctl_call *call,
				       pctl_block_statements *out)
{
	const pctl_record_type *t = &pctl_block_statements_type;
	pctl_str_buf lines = PCTL_STR_BUF_INIT;
	pctl_block_statement *items;
	pctl_status status;

	memset(out, 0, sizeof(*out));
	status = pctl_record_read(t, name, text, n, arena, call, out);
	items = (pctl_block_statement *)(uintptr_t)out->items;
	for (uint32_t i = 0; status == PCTL_OK && i < out->n; i++)
		if (items[i].error == NULL)
			items[i].error = "";
	if (status == PCTL_OK)
		status = check_jobs(out, call);
	if (status == PCTL_OK)
		status = spell(out, call, &lines);
	pctl_str_drop(&lines);
	if (status == PCTL_OK)
		status = pctl_record_check(t, name, text, n, call, out);
	if (status != PCTL_OK)
		memset(out, 0, sizeof(*out));
	return status;
}
