/* The tables of a block's files (blocks.md), and lines of them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chain/blocks/block_lines.h"
#include "runtime/cas/codings.h"

typedef pctl_block_header header;
typedef pctl_block_message message;
typedef pctl_block_result result;
typedef pctl_block_need need;
typedef pctl_block_parameter parameter;

/* A file, and the shape of its lines where it is a list of them. */
#define BLOCK_FILE(NAME, SHAPE)                                                               \
	{                                                                                     \
		.opening = "", .shape = SHAPE, .quoting = PCTL_RECORD_PLAIN,                  \
		.form = PC5853_BLOCK_RECORD, .contradicts = PC5853_BLOCK_RECORD,              \
		.title = "Block: " NAME, .where = "File `" NAME "` of a block in the history" \
	}
#define LINES_OF(NAME, T, MEANS)                                                             \
	static const pctl_record_shape NAME##_row =                                          \
		PCTL_RECORD_OF_LINES(NAME##_fields, PCTL_RECORD_ROW, ' ', T);                \
	static const pctl_record_field NAME##_list[] = {PCTL_RECORD_FIELD(                   \
		LIST, #NAME, pctl_block_lines, items, .n_at = offsetof(pctl_block_lines, n), \
		.of = &NAME##_row, .means = MEANS)};                                         \
	static const pctl_record_shape NAME##_file =                                         \
		PCTL_RECORD_OF_LINES(NAME##_list, PCTL_RECORD_LINES, ' ', pctl_block_lines); \
	static const pctl_record_type NAME##_line = BLOCK_FILE(#NAME, &NAME##_row);          \
	const pctl_record_type pctl_block_##NAME##_type = BLOCK_FILE(#NAME, &NAME##_file)

/* ---- words -------------------------------------------------------------------------------- */

static const char *const origins[] = {"message", "epoch", "genesis"};
static const char *const endings[] = {
	[PCTL_JOB_COMPLETE] = "complete", [PCTL_JOB_FAILED] = "failed"};
static const char *const uses[] = {"needed", "made"};

/* The number of a request's first field is its kind. */
static void derive_kind(const void *record, pctl_str_buf *out)
{
	static const struct {
		uint32_t kind;
		const char *word;
	} words[] = {
		{PCTL_MSG_UPLOAD, "upload"}, {PCTL_MSG_EXECUTE, "execute"},
		{PCTL_MSG_LEDGER, "ledger"}, {PCTL_MSG_PARAMS, "params"},
		{PCTL_MSG_NAME, "name"},     {PCTL_MSG_CANCEL, "cancel"},
		{PCTL_MSG_LINK, "link"},     {PCTL_MSG_VERDICT, "verdict"},
		{PCTL_MSG_KEYS, "keys"},     {PCTL_MSG_ROLE, "role"},
		{PCTL_MSG_BLOB, "blob"},     {PCTL_MSG_CONTRACT, "contract"},
		{PCTL_MSG_CALL, "call"},     {PCTL_MSG_STATEMENT, "statement"},
	};
	const message *m = record;
	const char *word = "other";

	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (pctl_request_tag_is(m->bytes, m->n_bytes, words[i].kind))
			word = words[i].word;
	pctl_str_add(out, word);
}

/* ---- tables ------------------------------------------------------------------------------- */

#define NUMBER(KEY, M, MEANS) \
	PCTL_RECORD_FIELD(U64, KEY, header, M, .flags = PCTL_RECORD_NAMED, .means = MEANS)
static const pctl_record_field header_fields[] = {
	{.key = "pipectl-block",
	 .kind = PCTL_RECORD_CONSTANT,
	 .flags = PCTL_RECORD_NAMED,
	 .constant = "1",
	 .means = "version of the format"},
	NUMBER("height", height, "1 of the first"),
	NUMBER("first_clock", first_clock, "that it begins with"),
	NUMBER("final_clock", clock, "that it ends with"),
	PCTL_RECORD_SIZED(CHARS, "executor", header, executor, .flags = PCTL_RECORD_NAMED,
			  .least = 1, .means = "account that is paid"),
	NUMBER("budget", budget, "gas that its jobs may take"),
	NUMBER("complete", complete, "jobs"),
	NUMBER("failed", failed, "jobs"),
	NUMBER("deferred", deferred, "jobs that wait for a later block"),
	NUMBER("gas", gas, "of jobs that ran"),
	PCTL_RECORD_SIZED(HEX, "previous_root", header, previous, .flags = PCTL_RECORD_NAMED,
			  .means = "state root before"),
	PCTL_RECORD_SIZED(CHARS, "tree_root", header, tree,
			  .flags = PCTL_RECORD_NAMED | PCTL_RECORD_OPTIONAL,
			  .means = "of the tree over the state, from version 2 of the rules on"),
	PCTL_RECORD_SIZED(HEX, "state_root", header, root, .flags = PCTL_RECORD_NAMED,
			  .means = "over the lines before this and all other files")};
static const pctl_record_shape header_file =
	PCTL_RECORD_OF_LINES(header_fields, PCTL_RECORD_LINES, ' ', header);
const pctl_record_type pctl_block_header_type = BLOCK_FILE("header", &header_file);

static const pctl_record_field genesis_fields[] = {
	PCTL_RECORD_SIZED(CHARS, "name", parameter, name, .least = 1, .means = "of `params.def`"),
	PCTL_RECORD_SIZED(CHARS, "value", parameter, value, .least = 1, .means = "of it")};
LINES_OF(genesis, parameter, "parameters that the chain began with, of block 1 alone");

static const pctl_record_field messages_fields[] = {
	PCTL_RECORD_FIELD(WORD, "origin", message, origin, PCTL_RECORD_WORDS(origins),
			  .means = "sent, or made by the engine"),
	{.key = "kind",
	 .kind = PCTL_RECORD_DERIVED,
	 .derive = derive_kind,
	 .means = "of the request, in a word"},
	PCTL_RECORD_FIELD(BYTES, "request", message, bytes, .n_at = offsetof(message, n_bytes),
			  .bound = PCTL_MESSAGE_MAX, .means = "of `messages.proto`")};
LINES_OF(messages, message, "in the order of arrival");

#define WHEN(STATUS) \
	.flags = PCTL_RECORD_OPTIONAL, .n_at = offsetof(result, status), .when = 1u << (STATUS)
static const pctl_record_field output_fields[] = {
	PCTL_RECORD_FIELD(CODED, "cid", result, output, .coding = &pctl_cid_coding,
			  .means = "of the output"),
	PCTL_RECORD_FIELD(U64, "bytes", result, n_output, .means = "of it")};
static const pctl_record_shape output =
	PCTL_RECORD_OF_LINES(output_fields, PCTL_RECORD_ROW, ' ', result);
static const pctl_record_field results_fields[] = {
	PCTL_RECORD_SIZED(HEX, "job", result, id, .means = "its id"),
	PCTL_RECORD_FIELD(U64, "clock", result, clock, .means = "of it"),
	PCTL_RECORD_FIELD(WORD, "how", result, status, PCTL_RECORD_WORDS(endings),
			  .means = "it ended"),
	PCTL_RECORD_FIELD(U64, "gas", result, gas, .means = "charged"),
	{.key = "output",
	 .kind = PCTL_RECORD_GROUP,
	 .of = &output,
	 WHEN(PCTL_JOB_COMPLETE),
	 .means = "of a complete one"},
	PCTL_RECORD_FIELD(TEXT, "reason", result, error, .n_at = offsetof(result, status),
			  .flags = PCTL_RECORD_OPTIONAL | PCTL_RECORD_REST,
			  .when = 1u << PCTL_JOB_FAILED,
			  .means = "of one that failed, to the end of the line")};
LINES_OF(results, result, "by clock, then place in the queue");

static const pctl_record_field manifest_fields[] = {
	PCTL_RECORD_FIELD(CODED, "cid", need, cid, .coding = &pctl_cid_coding,
			  .means = "of the bytes"),
	PCTL_RECORD_FIELD(WORD, "how", need, is_made, PCTL_RECORD_WORDS(uses),
			  .means = "named by messages, or an output"),
	PCTL_RECORD_FIELD(U64, "bytes", need, n_bytes, .means = "how many")};
LINES_OF(manifest, need, "by CID, none twice");

/* ---- lines -------------------------------------------------------------------------------- */

static void add_line(const pctl_record_type *t, const void *row, pctl_str_buf *out)
{
	pctl_record_text(t, row, out);
	pctl_str_add(out, "\n");
}

pctl_status pctl_block_message_text(uint32_t from, const uint8_t *bytes, uint64_t n,
				    const pctl_call *call, pctl_str_buf *out)
{
	const message m = {from, (uint32_t)n, (uint8_t *)(uintptr_t)bytes};

	if (n > PCTL_MESSAGE_MAX)
		return pctl_refuse(call, PC5780_MESSAGE_SIZE, "a message of %" PRIu64 " bytes", n);
	add_line(&messages_line, &m, out);
	return PCTL_OK;
}

void pctl_block_result_text(const pctl_block_result *r, pctl_str_buf *out)
{
	add_line(&results_line, r, out);
}

void pctl_block_need_text(const pctl_block_need *n, pctl_str_buf *out)
{
	add_line(&manifest_line, n, out);
}

void pctl_block_genesis_text(const pctl_params *p, pctl_str_buf *out)
{
	for (uint32_t i = 0; i < PCTL_PARAM_COUNT; i++) {
		parameter said;

		if (!pctl_param_is_said(i, p->values[i]))
			continue;
		snprintf(said.name, sizeof(said.name), "%s", pctl_param_at(i)->name);
		pctl_param_format(i, p->values[i], said.value);
		add_line(&genesis_line, &said, out);
	}
}
