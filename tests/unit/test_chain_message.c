/* Messages: every field of every message wrong in turn, the one encoding, and the id of a job, against bytes worked out
 * by hand from the encoding of protocol buffers. */
#include "test_chain_message.h"

static const char *const two_ids[] = {ID_A, ID_B}, *const one_id[] = {ID_B};
static const char *const two_tags[] = {"graph", "rank"};
static const pctl_msg_binding two_bindings[] = {{0, 2, CID}, {2, 0, "job:" ID_A}};
static const pctl_msg_override two_overrides[] = {{"a", 1}, {"b", UINT64_MAX}};
static const pctl_msg_tick two_ticks[] = {
	{.tick_index = 0, .integer_ops = 1, .barrier_type = 1, .barriers = 1},
	{.tick_index = 1, .storage_reads_bytes = 4, .storage_writes_bytes = 8}};

static pctl_request upload(void)
{
	return (pctl_request){
		.kind = PCTL_MSG_UPLOAD,
		.as.upload = {"alice", (const uint8_t *)"fn", 2, "about", two_tags, 2, 0, CID}};
}

static pctl_request execute(void)
{
	return (pctl_request){.kind = PCTL_MSG_EXECUTE,
			      .as.execute = {.sender = "alice",
					     .shader_cid = CID,
					     .input = "job:" ID_B,
					     .dispatch = {65535, 0, 1},
					     .gas_limit = 1,
					     .bindings = two_bindings,
					     .parent_clock = 3,
					     .uniform_cid = CID,
					     .output_bytes = 128u << 20,
					     .parent_jobs = one_id,
					     .after = two_ids,
					     .overrides = two_overrides,
					     .n_bindings = 2,
					     .n_parent_jobs = 1,
					     .n_after = 1,
					     .n_overrides = 2,
					     .entry = "main"}};
}

static pctl_response upload_response(void)
{
	return (pctl_response){.kind = PCTL_MSG_UPLOAD,
			       .as.upload = {CID, {two_ticks, 2, 0, 10, 1, 16384, {65535, 0, 0}}}};
}

static pctl_response execute_response(void)
{
	return (pctl_response){.kind = PCTL_MSG_EXECUTE, .as.execute = {ID_A, 7}};
}

static pctl_response query_response(uint32_t status)
{
	return (pctl_response){.kind = PCTL_MSG_QUERY,
			       .as.query = {status, 0, status == PCTL_JOB_COMPLETE ? CID : "", 0, 7,
					    status == PCTL_JOB_FAILED ? "out of gas" : ""}};
}

static pctl_response block_info(uint32_t kind)
{
	return (pctl_response){
		.kind = kind,
		.as.block = {9, 12, ID_A, ID_B, two_ids, one_id, 2, 1, 100, 200, 3, "bob", 2, 7}};
}

static pctl_response an_error(void)
{
	return (pctl_response){.kind = PCTL_MSG_ERROR, .as.error = {5781, 0, "no"}};
}

/* ---- what is good ------------------------------------------------------------------------- */

static void test_chain_message__good_messages_pass_both_ways(void **state)
{
	pctl_request q[] = {upload(),
			    execute(),
			    {.kind = PCTL_MSG_QUERY, .as.query = {ID_A}},
			    {.kind = PCTL_MSG_BLOCK_END, .as.block = {.height = 0}},
			    {.kind = PCTL_MSG_BLOCK_QUERY, .as.block = {.height = INT64_MAX}}};
	pctl_response r[] = {upload_response(),
			     execute_response(),
			     query_response(PCTL_JOB_PENDING),
			     query_response(PCTL_JOB_EXECUTING),
			     query_response(PCTL_JOB_COMPLETE),
			     query_response(PCTL_JOB_FAILED),
			     block_info(PCTL_MSG_BLOCK_END),
			     block_info(PCTL_MSG_BLOCK_QUERY),
			     an_error()};

	(void)state;
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		request_passes(&q[i]);
	for (size_t i = 0; i < sizeof(r) / sizeof(r[0]); i++)
		response_passes(&r[i]);
	/* What may be left out. */
	q[0].as.upload.description = q[0].as.upload.implements = "";
	q[0].as.upload.n_tags = 0;
	request_passes(&q[0]);
	q[1].as.execute.n_bindings = q[1].as.execute.n_parent_jobs = 0;
	q[1].as.execute.n_after = q[1].as.execute.n_overrides = 0;
	q[1].as.execute.parent_clock = q[1].as.execute.output_bytes = 0;
	q[1].as.execute.uniform_cid = q[1].as.execute.entry = "";
	memset(q[1].as.execute.dispatch, 0, sizeof(q[1].as.execute.dispatch));
	request_passes(&q[1]);
}

/* ---- what is wrong ------------------------------------------------------------------------ */

static void test_chain_message__upload_refuses_every_field(void **state)
{
	static const char *const twice[] = {"a", "a"}, *const unsorted[] = {"b", "a"};
	static const char *const empty[] = {""}, *const control[] = {"a\nb"},
				 *const long_tag[] = {LONG65};
	static const char *many[17];
	static char names[17][3], description[1026];
	static uint8_t source[PCTL_MESSAGE_SOURCE_MAX + 1];

	(void)state;
	for (int i = 0; i < 17; i++) {
		snprintf(names[i], 3, "t%c", 'a' + i);
		many[i] = names[i];
	}
	memset(description, 'x', 1025);
	memset(source, ' ', sizeof(source));
	WRONG_REQUEST(upload(), upload.sender = "", PC5784_MESSAGE_MISSING, "upload.sender");
	WRONG_REQUEST(upload(), upload.sender = "Alice", PC5785_MESSAGE_SENDER, "upload.sender");
	WRONG_REQUEST(upload(), upload.sender = LONG65, PC5785_MESSAGE_SENDER, "upload.sender");
	WRONG_REQUEST(upload(), upload.n_source = 0, PC5784_MESSAGE_MISSING, "upload.wgsl_source");
	WRONG_REQUEST(upload(), upload.source = (const uint8_t *)"\xc0\x80", PC5788_MESSAGE_TEXT,
		      "upload.wgsl_source");
	WRONG_REQUEST(upload(), upload.source = source; m.as.upload.n_source = sizeof(source),
							PC5789_MESSAGE_COUNT, "upload.wgsl_source");
	WRONG_REQUEST(upload(), upload.description = "\xed\xa0\x80", PC5788_MESSAGE_TEXT,
		      "upload.description");
	WRONG_REQUEST(upload(), upload.description = "a\x7f", PC5788_MESSAGE_TEXT,
		      "upload.description");
	WRONG_REQUEST(upload(), upload.description = "a\xc2\x85", PC5788_MESSAGE_TEXT,
		      "upload.description");
	WRONG_REQUEST(upload(), upload.description = description, PC5789_MESSAGE_COUNT,
		      "upload.description");
	WRONG_REQUEST(upload(), upload.tags = twice, PC5792_MESSAGE_ORDER, "upload.tags[1]");
	WRONG_REQUEST(upload(), upload.tags = unsorted, PC5792_MESSAGE_ORDER, "upload.tags[1]");
	WRONG_REQUEST(upload(), upload.tags = empty;
		      m.as.upload.n_tags = 1, PC5784_MESSAGE_MISSING, "upload.tags[0]");
	WRONG_REQUEST(upload(), upload.tags = control;
		      m.as.upload.n_tags = 1, PC5788_MESSAGE_TEXT, "upload.tags[0]");
	WRONG_REQUEST(upload(), upload.tags = long_tag;
		      m.as.upload.n_tags = 1, PC5789_MESSAGE_COUNT, "upload.tags[0]");
	WRONG_REQUEST(upload(), upload.tags = many;
		      m.as.upload.n_tags = 17, PC5789_MESSAGE_COUNT, "upload.tags");
	WRONG_REQUEST(upload(), upload.implements = "rank", PC5786_MESSAGE_CID,
		      "upload.implements");
}

static void test_chain_message__execute_refuses_every_field(void **state)
{
	static const pctl_msg_binding far_group[] = {{4, 0, CID}}, far[] = {{0, 1000, CID}};
	static const pctl_msg_binding input[] = {{0, 0, CID}}, uniforms[] = {{0, 1, CID}};
	static const pctl_msg_binding output[] = {{1, 0, CID}}, no_cid[] = {{0, 2, ""}};
	static const pctl_msg_binding bad_cid[] = {{0, 2, "x"}}, bad_job[] = {{0, 2, "job:x"}};
	static const pctl_msg_binding twice[] = {{0, 2, CID}, {0, 2, CID}};
	static const pctl_msg_binding unsorted[] = {{2, 0, CID}, {1, 9, CID}};
	static const pctl_msg_override same[] = {{"a", 1}, {"a", 1}}, back[] = {{"b", 1}, {"a", 1}};
	static const pctl_msg_override unnamed[] = {{"", 1}}, control[] = {{"\x1b", 1}};
	static const char *const ids_twice[] = {ID_A, ID_A}, *const ids_back[] = {ID_B, ID_A};
	static const char
		*const bad_id[] = {"x"},
		       *const upper_id[] = {
			       "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"};
	static char name[257];
	static pctl_msg_binding many[7];

	(void)state;
	memset(name, 'n', 256);
	for (uint32_t i = 0; i < 7; i++)
		many[i] = (pctl_msg_binding){2, i, CID};
	WRONG_REQUEST(execute(), execute.sender = "", PC5784_MESSAGE_MISSING, "execute.sender");
	WRONG_REQUEST(execute(), execute.sender = "a b", PC5785_MESSAGE_SENDER, "execute.sender");
	WRONG_REQUEST(execute(), execute.shader_cid = "", PC5784_MESSAGE_MISSING,
		      "execute.shader_cid");
	WRONG_REQUEST(execute(), execute.shader_cid = "Qm", PC5786_MESSAGE_CID,
		      "execute.shader_cid");
	WRONG_REQUEST(execute(), execute.shader_cid = "job:" ID_A, PC5786_MESSAGE_CID,
		      "execute.shader_cid");
	WRONG_REQUEST(execute(), execute.input = "", PC5784_MESSAGE_MISSING, "execute.input_cid");
	WRONG_REQUEST(execute(), execute.input = CID "a", PC5786_MESSAGE_CID, "execute.input_cid");
	WRONG_REQUEST(execute(), execute.input = "job:", PC5784_MESSAGE_MISSING,
		      "execute.input_cid");
	WRONG_REQUEST(execute(), execute.input = "job:12", PC5787_MESSAGE_HASH,
		      "execute.input_cid");
	WRONG_REQUEST(execute(), execute.dispatch[0] = 65536, PC5790_MESSAGE_DISPATCH,
		      "execute.dispatch.x");
	WRONG_REQUEST(execute(), execute.dispatch[1] = 65536, PC5790_MESSAGE_DISPATCH,
		      "execute.dispatch.y");
	WRONG_REQUEST(execute(), execute.dispatch[2] = UINT32_MAX, PC5790_MESSAGE_DISPATCH,
		      "execute.dispatch.z");
	WRONG_REQUEST(execute(), execute.gas_limit = 0, PC5784_MESSAGE_MISSING,
		      "execute.gas_limit");
	WRONG_REQUEST(execute(), execute.parent_clock = 1ull << 63, PC5793_MESSAGE_NUMBER,
		      "execute.parent_clock");
	WRONG_REQUEST(execute(), execute.uniform_cid = "x", PC5786_MESSAGE_CID,
		      "execute.uniform_cid");
	WRONG_REQUEST(execute(), execute.output_bytes = (128u << 20) + 4, PC5793_MESSAGE_NUMBER,
		      "execute.output_bytes");
	WRONG_REQUEST(execute(), execute.output_bytes = 6, PC5793_MESSAGE_NUMBER,
		      "execute.output_bytes");
	WRONG_REQUEST(execute(), execute.entry = "\xff", PC5788_MESSAGE_TEXT, "execute.entry");
	WRONG_REQUEST(execute(), execute.entry = name, PC5789_MESSAGE_COUNT, "execute.entry");
#define BINDINGS(list, count, code, field)                \
	WRONG_REQUEST(execute(), execute.bindings = list; \
		      m.as.execute.n_bindings = count, code, field)
	BINDINGS(far_group, 1, PC5791_MESSAGE_SLOT, "execute.bindings[0]");
	BINDINGS(far, 1, PC5791_MESSAGE_SLOT, "execute.bindings[0]");
	BINDINGS(input, 1, PC5791_MESSAGE_SLOT, "execute.bindings[0]");
	BINDINGS(uniforms, 1, PC5791_MESSAGE_SLOT, "execute.bindings[0]");
	BINDINGS(output, 1, PC5791_MESSAGE_SLOT, "execute.bindings[0]");
	BINDINGS(no_cid, 1, PC5784_MESSAGE_MISSING, "execute.bindings[0].cid");
	BINDINGS(bad_cid, 1, PC5786_MESSAGE_CID, "execute.bindings[0].cid");
	BINDINGS(bad_job, 1, PC5787_MESSAGE_HASH, "execute.bindings[0].cid");
	BINDINGS(twice, 2, PC5792_MESSAGE_ORDER, "execute.bindings[1]");
	BINDINGS(unsorted, 2, PC5792_MESSAGE_ORDER, "execute.bindings[1]");
	BINDINGS(many, 7, PC5789_MESSAGE_COUNT, "execute.bindings");
#define PARENTS(list, count, code, field)                                                        \
	WRONG_REQUEST(execute(), execute.parent_jobs = list; m.as.execute.n_parent_jobs = count; \
		      m.as.execute.n_after = 0, code, field)
	PARENTS(bad_id, 1, PC5787_MESSAGE_HASH, "execute.parent_jobs[0]");
	PARENTS(upper_id, 1, PC5787_MESSAGE_HASH, "execute.parent_jobs[0]");
	PARENTS(ids_twice, 2, PC5792_MESSAGE_ORDER, "execute.parent_jobs[1]");
	PARENTS(ids_back, 2, PC5792_MESSAGE_ORDER, "execute.parent_jobs[1]");
	WRONG_REQUEST(execute(), execute.after = bad_id, PC5787_MESSAGE_HASH, "execute.after[0]");
	WRONG_REQUEST(execute(), execute.after = one_id, PC5792_MESSAGE_ORDER, "execute.after[0]");
#define OVERRIDES(list, count, code, field)                \
	WRONG_REQUEST(execute(), execute.overrides = list; \
		      m.as.execute.n_overrides = count, code, field)
	OVERRIDES(same, 2, PC5792_MESSAGE_ORDER, "execute.overrides[1].name");
	OVERRIDES(back, 2, PC5792_MESSAGE_ORDER, "execute.overrides[1].name");
	OVERRIDES(unnamed, 1, PC5784_MESSAGE_MISSING, "execute.overrides[0].name");
	OVERRIDES(control, 1, PC5788_MESSAGE_TEXT, "execute.overrides[0].name");
}

static void test_chain_message__lists_are_bounded(void **state)
{
	static const char *ids[PCTL_MESSAGE_BLOCK_JOBS_MAX + 1];
	static char texts[PCTL_MESSAGE_BLOCK_JOBS_MAX + 1][65];
	static pctl_msg_override overrides[65];

	(void)state;
	for (uint32_t i = 0; i <= PCTL_MESSAGE_BLOCK_JOBS_MAX; i++) {
		snprintf(texts[i], 65, "%064x", i);
		ids[i] = texts[i];
	}
	for (uint32_t i = 0; i < 65; i++)
		overrides[i] = (pctl_msg_override){texts[i], i};
	PARENTS(ids, 65, PC5789_MESSAGE_COUNT, "execute.parent_jobs");
	WRONG_REQUEST(execute(), execute.after = ids;
		      m.as.execute.n_after = 65, PC5789_MESSAGE_COUNT, "execute.after");
	OVERRIDES(overrides, 65, PC5789_MESSAGE_COUNT, "execute.overrides");
	WRONG_RESPONSE(block_info(PCTL_MSG_BLOCK_END), block.jobs = ids;
		       m.as.block.jobs_total = m.as.block.n_jobs = PCTL_MESSAGE_BLOCK_JOBS_MAX + 1,
		       PC5789_MESSAGE_COUNT, "block.jobs");
	WRONG_RESPONSE(block_info(PCTL_MSG_BLOCK_END), block.deferred = ids;
		       m.as.block.deferred_total = m.as.block.n_deferred =
			       PCTL_MESSAGE_BLOCK_JOBS_MAX + 1,
		       PC5789_MESSAGE_COUNT, "block.deferred");
}

static void test_chain_message__queries_and_envelopes_refuse_every_field(void **state)
{
	const pctl_request query = {.kind = PCTL_MSG_QUERY, .as.query = {ID_A}};
	const pctl_request end = {.kind = PCTL_MSG_BLOCK_END};
	const pctl_request show = {.kind = PCTL_MSG_BLOCK_QUERY};

	(void)state;
	WRONG_REQUEST(query, query.job_id = "", PC5784_MESSAGE_MISSING, "query.job_id");
	WRONG_REQUEST(query, query.job_id = "12", PC5787_MESSAGE_HASH, "query.job_id");
	WRONG_REQUEST(end, block.height = 1ull << 63, PC5793_MESSAGE_NUMBER, "block.height");
	WRONG_REQUEST(show, block.height = UINT64_MAX, PC5793_MESSAGE_NUMBER, "block.height");
	WRONG_REQUEST((pctl_request){.kind = 0}, block.height = 0, PC5796_MESSAGE_ENVELOPE,
		      "request.kind");
	WRONG_REQUEST((pctl_request){.kind = PCTL_MSG_ERROR}, block.height = 0,
		      PC5796_MESSAGE_ENVELOPE, "request.kind");
	WRONG_RESPONSE((pctl_response){.kind = 0}, block.height = 0, PC5796_MESSAGE_ENVELOPE,
		       "response.kind");
	WRONG_RESPONSE(block_info(PCTL_MSG_BLOCK_END), block.executor = "B", PC5785_MESSAGE_SENDER,
		       "block.executor");
	WRONG_RESPONSE(block_info(PCTL_MSG_BLOCK_END), block.jobs_total = 1, PC5793_MESSAGE_NUMBER,
		       "block.jobs_total");
	WRONG_RESPONSE(block_info(PCTL_MSG_BLOCK_END), block.deferred_total = 0,
		       PC5793_MESSAGE_NUMBER, "block.deferred_total");
	WRONG_RESPONSE(an_error(), error.code = 9, PC5796_MESSAGE_ENVELOPE, "error.code");
	WRONG_RESPONSE(an_error(), error.message = "", PC5784_MESSAGE_MISSING, "error.message");
	WRONG_RESPONSE(an_error(), error.message = "\x01", PC5788_MESSAGE_TEXT, "error.message");
}

static void test_chain_message__responses_refuse_every_field(void **state)
{
	static const pctl_msg_tick misnumbered[] = {{.tick_index = 1}};
	static const pctl_msg_tick open[] = {{.barrier_type = 1}};
	static const pctl_msg_tick no_barrier[] = {{.tick_index = 0}, {.tick_index = 1}};
	static const pctl_msg_tick unknown[] = {{.barrier_type = 4}, {.tick_index = 1}};
	static const pctl_msg_tick counted[] = {{.barriers = 1}};
	static const char *const bad_id[] = {"x", "y"};

	(void)state;
	WRONG_RESPONSE(upload_response(), upload.shader_cid = "x", PC5786_MESSAGE_CID,
		       "upload.shader_cid");
	WRONG_RESPONSE(upload_response(), upload.profile.n_ticks = 0, PC5784_MESSAGE_MISSING,
		       "upload.profile.ticks");
#define TICKS(list, count, field)                                      \
	WRONG_RESPONSE(upload_response(), upload.profile.ticks = list; \
		       m.as.upload.profile.n_ticks = count, PC5794_MESSAGE_PROFILE, field)
	TICKS(misnumbered, 1, "upload.profile.ticks[0]");
	TICKS(open, 1, "upload.profile.ticks[0]");
	TICKS(no_barrier, 2, "upload.profile.ticks[0]");
	TICKS(unknown, 2, "upload.profile.ticks[0]");
	TICKS(counted, 1, "upload.profile.ticks[0]");
	WRONG_RESPONSE(upload_response(), upload.profile.max_loop_iterations = 0,
		       PC5794_MESSAGE_PROFILE, "upload.profile.max_loop_iterations");
	WRONG_RESPONSE(upload_response(), upload.profile.workgroup_shared_bytes = 16385,
		       PC5793_MESSAGE_NUMBER, "upload.profile.workgroup_shared_bytes");
	WRONG_RESPONSE(upload_response(), upload.profile.max_dispatch[0] = 65536,
		       PC5793_MESSAGE_NUMBER, "upload.profile.max_dispatch_x");
	WRONG_RESPONSE(upload_response(), upload.profile.max_dispatch[1] = 65536,
		       PC5793_MESSAGE_NUMBER, "upload.profile.max_dispatch_y");
	WRONG_RESPONSE(upload_response(), upload.profile.max_dispatch[2] = 65536,
		       PC5793_MESSAGE_NUMBER, "upload.profile.max_dispatch_z");
	WRONG_RESPONSE(execute_response(), execute.job_id = "x", PC5787_MESSAGE_HASH,
		       "execute.job_id");
	WRONG_RESPONSE(execute_response(), execute.logical_clock = 0, PC5784_MESSAGE_MISSING,
		       "execute.logical_clock");
	WRONG_RESPONSE(execute_response(), execute.logical_clock = 1ull << 63,
		       PC5793_MESSAGE_NUMBER, "execute.logical_clock");
	WRONG_RESPONSE(query_response(0), query.status = 4, PC5795_MESSAGE_STATUS, "query.status");
	WRONG_RESPONSE(query_response(0), query.output_cid = CID, PC5795_MESSAGE_STATUS,
		       "query.output_cid");
	WRONG_RESPONSE(query_response(2), query.output_cid = "", PC5784_MESSAGE_MISSING,
		       "query.output_cid");
	WRONG_RESPONSE(query_response(2), query.output_cid = "x", PC5786_MESSAGE_CID,
		       "query.output_cid");
	WRONG_RESPONSE(query_response(1), query.gas_used = 1, PC5795_MESSAGE_STATUS,
		       "query.gas_used");
	WRONG_RESPONSE(query_response(3), query.logical_clock = 0, PC5784_MESSAGE_MISSING,
		       "query.logical_clock");
	WRONG_RESPONSE(query_response(2), query.error = "x", PC5795_MESSAGE_STATUS, "query.error");
	WRONG_RESPONSE(query_response(3), query.error = "", PC5784_MESSAGE_MISSING, "query.error");
	WRONG_RESPONSE(query_response(3), query.error = "\n", PC5788_MESSAGE_TEXT, "query.error");
	WRONG_RESPONSE(block_info(4), block.height = 0, PC5784_MESSAGE_MISSING, "block.height");
	WRONG_RESPONSE(block_info(4), block.final_clock = 1ull << 63, PC5793_MESSAGE_NUMBER,
		       "block.final_clock");
	WRONG_RESPONSE(block_info(5), block.state_root = "x", PC5787_MESSAGE_HASH,
		       "block.state_root");
	WRONG_RESPONSE(block_info(5), block.commit = "x", PC5787_MESSAGE_HASH, "block.commit");
	WRONG_RESPONSE(block_info(5), block.jobs = bad_id;
		       m.as.block.n_jobs = 1, PC5787_MESSAGE_HASH, "block.jobs[0]");
	WRONG_RESPONSE(block_info(5), block.deferred = bad_id, PC5787_MESSAGE_HASH,
		       "block.deferred[0]");
}

/* ---- bytes -------------------------------------------------------------------------------- */

static uint32_t decode(const char *hex)
{
	size_t n;
	uint8_t *bytes = unhex(hex, &n);
	pctl_request r;

	forget();
	if (pctl_request_decode(bytes, n, &call, &r) == PCTL_OK)
		assert_int_equal(n_refused, 0);
	else
		assert_true(n_refused > 0 && r.owner == NULL);
	pctl_request_destroy(&r);
	free(bytes);
	return n_refused == 0 ? 0 : refused[0];
}

/* A block query of height 300: field 5 of the envelope, two bytes of varint in field 1. */
static void test_chain_message__one_encoding_is_accepted(void **state)
{
	uint8_t *large = calloc(1, PCTL_MESSAGE_MAX + 1);
	pctl_request r;

	(void)state;
	assert_int_equal(decode("2A03 08AC02"), 0);
	assert_int_equal(decode("2A00"), 0);
	assert_int_equal(decode(""), PC5796_MESSAGE_ENVELOPE);
	assert_int_equal(decode("2A03 08AC"), PC5781_MESSAGE_WIRE);
	assert_int_equal(decode("2A04 08AC02"), PC5781_MESSAGE_WIRE);
	assert_int_equal(decode("00"), PC5781_MESSAGE_WIRE);
	assert_int_equal(decode("2A03 08AC02 7A00"), PC5782_MESSAGE_UNKNOWN);
	assert_int_equal(decode("2A05 08AC02 1001"), PC5782_MESSAGE_UNKNOWN);
	assert_non_null(strstr(words, "field 2"));
	/* A default written out, an overlong varint, a field twice, an envelope with two messages. */
	assert_int_equal(decode("2A02 0800"), PC5783_MESSAGE_CANONICAL);
	assert_int_equal(decode("2A04 08AC8200"), PC5783_MESSAGE_CANONICAL);
	assert_int_equal(decode("2A05 0801 08AC02"), PC5783_MESSAGE_CANONICAL);
	assert_int_equal(decode("2200 2A03 08AC02"), PC5783_MESSAGE_CANONICAL);
	assert_int_equal(decode("2A8300 08AC02"), PC5783_MESSAGE_CANONICAL);
	/* An execute without a dispatch; fields out of order: gas_limit before sender. */
	assert_int_equal(decode("1207 0A0161 2801 4804"), PC5784_MESSAGE_MISSING);
	assert_int_equal(decode("1205 2801 0A0161"), PC5783_MESSAGE_CANONICAL);
	/* A text with a NUL inside is another text than the one before it. */
	assert_int_equal(decode("1A06 0A0461006200"), PC5783_MESSAGE_CANONICAL);
	forget();
	assert_int_equal(pctl_request_decode(large, PCTL_MESSAGE_MAX + 1, &call, &r), PCTL_E_LIMIT);
	assert_int_equal(refused[0], PC5780_MESSAGE_SIZE);
	free(large);
}

static void test_chain_message__all_that_is_wrong_is_reported(void **state)
{
	pctl_request r = execute();

	(void)state;
	r.as.execute.sender = "";
	r.as.execute.shader_cid = "x";
	r.as.execute.gas_limit = 0;
	r.as.execute.dispatch[2] = 65536;
	forget();
	assert_int_equal(pctl_request_check(&r, &call), PCTL_E_INVALID);
	assert_int_equal(n_refused, 4);
}

/* The digest of the bytes that message.h spells out, computed with Python's hashlib. */
static void test_chain_message__job_id_is_what_the_header_says(void **state)
{
	uint8_t id[PCTL_DIGEST_BYTES], other[PCTL_DIGEST_BYTES];
	char hex[2 * PCTL_DIGEST_BYTES + 1];

	(void)state;
	assert_int_equal(pctl_job_id("abc", 3, 0x0102030405060708, 9, &call, id), PCTL_OK);
	assert_string_equal(pctl_digest_hex(id, hex),
			    "7f5cb5eff0ab96d308b4e488d09418d606fc1610e1358b03741a9781f77092c0");
	assert_int_equal(pctl_job_id("abc", 3, 9, 0x0102030405060708, &call, other), PCTL_OK);
	assert_memory_not_equal(id, other, sizeof(id));
	assert_int_equal(pctl_job_id("ab", 2, 0x0102030405060708, 9, &call, other), PCTL_OK);
	assert_memory_not_equal(id, other, sizeof(id));
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_message__good_messages_pass_both_ways),
		PCTL_TEST(test_chain_message__upload_refuses_every_field),
		PCTL_TEST(test_chain_message__execute_refuses_every_field),
		PCTL_TEST(test_chain_message__lists_are_bounded),
		PCTL_TEST(test_chain_message__queries_and_envelopes_refuse_every_field),
		PCTL_TEST(test_chain_message__responses_refuse_every_field),
		PCTL_TEST(test_chain_message__one_encoding_is_accepted),
		PCTL_TEST(test_chain_message__all_that_is_wrong_is_reported),
		PCTL_TEST(test_chain_message__job_id_is_what_the_header_says))
