/* The table of a run's receipt: what is asked, what came of it, where it ran. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "evidence/receipt/receipt.h"
#include "foundation/base/num.h"
#include "runtime/cas/codings.h"

#define TEXT(K, T, M, MEANS) PCTL_RECORD_FIELD(TEXT, K, T, M, .means = MEANS)
#define U64(K, T, M, MEANS) PCTL_RECORD_FIELD(U64, K, T, M, .means = MEANS)
#define CODED(K, T, M, CODING, MEANS) \
	PCTL_RECORD_FIELD(CODED, K, T, M, .coding = CODING, .means = MEANS)
#define LIST(K, T, M, SHAPE, MEANS) \
	PCTL_RECORD_FIELD(LIST, K, T, M, .n_at = offsetof(T, n_##M), .of = SHAPE, .means = MEANS)

static void print_races(const void *member, char *out)
{
	strcpy(out, pctl_policy_races_word(*(const uint32_t *)member));
}

static int parse_races(const char *text, void *member)
{
	return pctl_policy_races_of(text, member);
}

static void print_device(const void *member, char *out)
{
	const uint32_t device = *(const uint32_t *)member;

	if (device == PCTL_RECEIPT_NO_DEVICE)
		strcpy(out, "none");
	else
		sprintf(out, "%u", device);
}

static int parse_device(const char *text, void *member)
{
	uint64_t number = PCTL_RECEIPT_NO_DEVICE;
	const int good =
		strcmp(text, "none") == 0 || (pctl_num_parse_u64(text, strlen(text), &number) &&
					      number < PCTL_RECEIPT_NO_DEVICE);

	*(uint32_t *)member = (uint32_t)number;
	return good;
}

static const pctl_record_coding races = {"a word for races", print_races, parse_races};
static const pctl_record_coding device = {"a number in quotes or \"none\"", print_device,
					  parse_device};

static const pctl_record_field pair_fields[] = {
	TEXT("key", pctl_receipt_pair, key, "a name"),
	TEXT("value", pctl_receipt_pair, value, "its value")};
static const pctl_record_shape pair =
	PCTL_RECORD_SHAPE(pair_fields, PCTL_RECORD_ARRAY, pctl_receipt_pair);

static const pctl_record_field data_fields[] = {
	TEXT("name", pctl_receipt_data, name, "as the pipeline has it"),
	TEXT("type", pctl_receipt_data, type, "\"u32[4,2]\"; nothing of a text"),
	U64("bytes", pctl_receipt_data, n_bytes, "how long it is"),
	CODED("cid", pctl_receipt_data, cid, &pctl_cid_coding, "of the bytes")};
static const pctl_record_shape data =
	PCTL_RECORD_SHAPE(data_fields, PCTL_RECORD_INLINE, pctl_receipt_data);

static const pctl_record_field asked_fields[] = {
	TEXT("id", pctl_receipt_job, id, "its name"),
	TEXT("what", pctl_receipt_job, what, "op with version, or shader")};
static const pctl_record_shape asked =
	PCTL_RECORD_SHAPE(asked_fields, PCTL_RECORD_ARRAY, pctl_receipt_job);

static const pctl_record_field question_fields[] = {
	TEXT("semantics", pctl_receipt, semantics, "version of what programs mean"),
	TEXT("pipeline", pctl_receipt, pipeline, "name of its file"),
	TEXT("class", pctl_receipt, max_class, "of determinism, at most"),
	PCTL_RECORD_FIELD(BOOL, "native", pctl_receipt, native, .means = "with native floats"),
	LIST("texts", pctl_receipt, texts, &data, "the pipeline's file, what it includes, shaders"),
	LIST("params", pctl_receipt, params, &pair, "parameters"),
	LIST("inputs", pctl_receipt, inputs, &data, "inputs"),
	LIST("jobs", pctl_receipt, jobs, &asked, "jobs"),
	TEXT("schedule", pctl_receipt, schedule, "name of the gas schedule"),
	TEXT("schedule_id", pctl_receipt, schedule_id, "its CID")};
static const pctl_record_shape question =
	PCTL_RECORD_SHAPE(question_fields, PCTL_RECORD_BLOCK, pctl_receipt);

static const pctl_record_field kernel_fields[] = {
	{.key = "cid", .kind = PCTL_RECORD_CODED, .coding = &pctl_cid_coding}};
static const pctl_record_shape kernel =
	PCTL_RECORD_SHAPE(kernel_fields, PCTL_RECORD_ALONE, pctl_cid);
static const pctl_record_field answered_fields[] = {
	U64("repeat", pctl_receipt_job, repeat, "rounds"),
	U64("gas", pctl_receipt_job, gas, "charged"),
	PCTL_RECORD_FIELD(LIST, "kernels", pctl_receipt_job, kernels, .flags = PCTL_RECORD_EQUALS,
			  .n_at = offsetof(pctl_receipt_job, n_kernels), .of = &kernel,
			  .means = "CIDs of its programs, cut for no device in particular")};
static const pctl_record_shape answered =
	PCTL_RECORD_SHAPE(answered_fields, PCTL_RECORD_INLINE, pctl_receipt_job);

static const pctl_record_field answer_fields[] = {
	PCTL_RECORD_FIELD(BOOL, "executed", pctl_receipt, executed,
			  .means = "`false`: it was remembered, and there is no trace"),
	U64("gas", pctl_receipt, gas, "of all jobs"),
	LIST("outputs", pctl_receipt, outputs, &data, "outputs"),
	PCTL_RECORD_FIELD(LIST, "jobs", pctl_receipt, jobs, .flags = PCTL_RECORD_SAME,
			  .n_at = offsetof(pctl_receipt, n_jobs), .of = &answered,
			  .means = "one for each job that was asked for"),
	PCTL_RECORD_FIELD(WORD, "trace", pctl_receipt, level, .words = pctl_trace_levels,
			  .bound = 3, .means = "what a line of the trace stands for"),
	PCTL_RECORD_FIELD(U32, "leaves", pctl_receipt, trace.n, .means = "lines of the trace"),
	PCTL_RECORD_FIELD(HEX, "root", pctl_receipt, trace.root, .bound = PCTL_DIGEST_BYTES,
			  .means = "of the tree over its lines (RFC 6962)")};
static const pctl_record_shape answer =
	PCTL_RECORD_SHAPE(answer_fields, PCTL_RECORD_BLOCK, pctl_receipt);

static const pctl_record_field device_fields[] = {
	TEXT("selector", pctl_receipt_device, selector, "as it was chosen"),
	TEXT("name", pctl_receipt_device, name, "as its driver has it"),
	TEXT("plugin", pctl_receipt_device, plugin, "id of its backend"),
	TEXT("version", pctl_receipt_device, version, "of the backend"),
	TEXT("sha256", pctl_receipt_device, sha256, "of the backend's file"),
	TEXT("profile", pctl_receipt_device, profile,
	     "CID of the profile that kernels were made by"),
	PCTL_RECORD_FIELD(LIST, "identity", pctl_receipt_device, facts,
			  .n_at = offsetof(pctl_receipt_device, n_facts), .of = &pair,
			  .means = "what the backend says of device and driver")};
static const pctl_record_shape devices =
	PCTL_RECORD_SHAPE(device_fields, PCTL_RECORD_BLOCK, pctl_receipt_device);

static const pctl_record_field ran_fields[] = {
	CODED("device", pctl_receipt_job, device, &device, "number among the devices"),
	CODED("evidence", pctl_receipt_job, evidence, &pctl_evidence_coding,
	      "how its outputs stand, the weakest of its own and its inputs'"),
	CODED("races", pctl_receipt_job, races, &races, "what is known of races")};
static const pctl_record_shape ran =
	PCTL_RECORD_SHAPE(ran_fields, PCTL_RECORD_INLINE, pctl_receipt_job);

static const pctl_record_field where_fields[] = {
	CODED("evidence", pctl_receipt, evidence, &pctl_evidence_coding,
	      "the weakest along the provenance of all outputs"),
	TEXT("pipectl", pctl_receipt, version, "version of the program"),
	TEXT("made", pctl_receipt, made, "when"),
	TEXT("policy", pctl_receipt, policy, "name of the policy"),
	TEXT("policy_id", pctl_receipt, policy_id, "CID of the values in force"),
	TEXT("repository", pctl_receipt, repository,
	     "of the pipeline; nothing where there is none"),
	TEXT("commit", pctl_receipt, commit, "of the repository"),
	TEXT("path", pctl_receipt, path, "of the pipeline there"),
	TEXT("state", pctl_receipt, state, "is what was run what was committed"),
	PCTL_RECORD_FIELD(HEX, "memo", pctl_receipt, memo, .bound = PCTL_DIGEST_BYTES,
			  .means = "key of the run"),
	LIST("libraries", pctl_receipt, libraries, &pair,
	     "op libraries: id and SHA-256 of the file"),
	LIST("devices", pctl_receipt, devices, &devices, "devices that ran jobs"),
	PCTL_RECORD_FIELD(LIST, "jobs", pctl_receipt, jobs, .flags = PCTL_RECORD_SAME,
			  .n_at = offsetof(pctl_receipt, n_jobs), .of = &ran,
			  .means = "one for each job that was asked for")};
static const pctl_record_shape where =
	PCTL_RECORD_SHAPE(where_fields, PCTL_RECORD_BLOCK, pctl_receipt);

static const pctl_record_field fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = PCTL_RECEIPT_SCHEMA,
	 .means = "version of the format"},
	{.key = "kind", .kind = PCTL_RECORD_CONSTANT, .constant = "run", .means = "of a run"},
	{.key = "question",
	 .kind = PCTL_RECORD_GROUP,
	 .of = &question,
	 .means = "equal in all receipts of one question"},
	{.key = "answer",
	 .kind = PCTL_RECORD_GROUP,
	 .of = &answer,
	 .means = "equal in all honest receipts of one question"},
	{.key = "where", .kind = PCTL_RECORD_GROUP, .of = &where, .means = "where it ran"}};
static const pctl_record_shape shape = PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_receipt);

const pctl_record_type pctl_receipt_type = {
	.group = "receipt",
	.opening = "// What a run did. `pipectl receipt verify FILE` checks it, `pipectl receipt "
		   "replay "
		   "FILE` runs it again.\n",
	.shape = &shape,
	.form = PC5901_RECEIPT_FORM,
	.contradicts = PC5902_RECEIPT_CONTRADICTS,
	.title = "Receipt of a run",
	.where = "A `.receipt` file; signed; behind the signature stand the lines of the trace, "
		 "`trace : ( \"LINE\", .. );`",
};
