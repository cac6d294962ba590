/* The registry: what is uploaded, every rule broken in turn, names and their decisions, verdicts. */
#include "test_chain_submit.h"

#define IN "@group(0) @binding(0) var<storage, read> a: array<u32>;\n"
#define OUT "@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
#define MAIN(body)                                                                \
	"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: " \
	"vec3<u32>) {\n" body "\n}\n"
#define SUM MAIN("o[id.x] = a[id.x] + 1u;")

static void cid_of(const char *text, char out[PCTL_CID_TEXT_SIZE])
{
	pctl_cid cid;

	assert_int_equal(pctl_cid_of(text, strlen(text), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, out);
}

static int count_row(void *ctx, const pctl_shader_row *row)
{
	(void)row;
	++*(uint32_t *)ctx;
	return 0;
}

static uint32_t count(rig *g, const char *tag)
{
	uint32_t n = 0;

	assert_int_equal(pctl_shaders_list(pctl_cursor(g->chain), tag, count_row, &n, &call),
			 PCTL_OK);
	return n;
}

static void test_chain_registry__an_upload_is_kept_once(void **state)
{
	static const char *const tags[] = {"graph", "sum"};
	rig g = start_default();
	pctl_request r = upload_of("bob", IN OUT SUM);
	pctl_response first, again;
	pctl_shader_row row;
	char cid[PCTL_CID_TEXT_SIZE];

	(void)state;
	cid_of(IN OUT SUM, cid);
	r.as.upload.tags = tags;
	r.as.upload.n_tags = 2;
	r.as.upload.implements = g.input;
	assert_int_equal(pctl_chain_apply(g.chain, &r, &call, &first), PCTL_OK);
	assert_string_equal(first.as.upload.shader_cid, cid);
	assert_int_equal(first.as.upload.profile.n_ticks, 1);
	assert_true(first.as.upload.profile.cost_per_workgroup > 0);
	assert_int_equal(pctl_shaders_read(pctl_cursor(g.chain), cid, &call, &row), PCTL_OK);
	assert_string_equal(row.sender, "bob");
	assert_string_equal(row.implements, g.input);
	assert_true(row.height == 1 && row.deprecated == 0);
	pctl_shader_row_clear(&row);
	assert_int_equal(count(&g, NULL), 2);
	assert_int_equal(count(&g, "graph"), 1);
	assert_int_equal(count(&g, "absent"), 0);
	/* another account's second upload gets the same answer and changes nothing of it */
	r = upload_of("eve", IN OUT SUM);
	assert_int_equal(pctl_chain_apply(g.chain, &r, &call, &again), PCTL_OK);
	assert_string_equal(again.as.upload.shader_cid, cid);
	assert_true(again.as.upload.profile.cost_per_workgroup ==
		    first.as.upload.profile.cost_per_workgroup);
	assert_memory_equal(again.as.upload.profile.ticks, first.as.upload.profile.ticks,
			    sizeof(*first.as.upload.profile.ticks));
	assert_int_equal(pctl_shaders_read(pctl_cursor(g.chain), cid, &call, &row), PCTL_OK);
	assert_string_equal(row.sender, "bob");
	assert_string_equal(row.description, "sums");
	pctl_shader_row_clear(&row);
	assert_int_equal(count(&g, NULL), 2);
	pctl_response_destroy(&first);
	pctl_response_destroy(&again);
	stop(&g);
}

static void bad(rig *g, const char *text, uint32_t code)
{
	const pctl_request r = upload_of("bob", text);

	refused_with(g, &r, code);
}

static void test_chain_registry__every_rule_is_kept(void **state)
{
	rig g = start_default();

	(void)state;
	bad(&g, OUT MAIN("o[id.x] = 1u;"), PC5807_SHADER_INTERFACE);
	bad(&g, IN "var<workgroup> w: u32;\n" MAIN("w = a[id.x];"), PC5807_SHADER_INTERFACE);
	bad(&g,
	    IN "@group(1) @binding(0) var<storage, read> o: array<u32>;\n"
	       "@group(1) @binding(1) var<storage, read_write> q: array<u32>;\n" MAIN(
		       "q[id.x] = a[id.x] + o[id.x];"),
	    PC5807_SHADER_INTERFACE);
	bad(&g,
	    IN OUT "@group(2) @binding(0) var<storage, read_write> q: array<u32>;\n" MAIN(
		    "o[id.x] = a[id.x]; q[id.x] = 1u;"),
	    PC5807_SHADER_INTERFACE);
	bad(&g,
	    IN OUT "struct U { @size(4) n: u32, }\n"
		   "@group(0) @binding(2) var<uniform> u: U;\n" MAIN("o[id.x] = a[id.x] + u.n;"),
	    PC5807_SHADER_INTERFACE);
	bad(&g, IN OUT MAIN("o[0] = a[id.x];"), PC5808_SHADER_RACE);
	bad(&g, IN OUT MAIN("o[a[id.x]] = 1u;"), PC5808_SHADER_RACE);
	bad(&g,
	    IN OUT "@compute @workgroup_size(512) fn main(@builtin(global_invocation_id) id: "
		   "vec3<u32>) { o[id.x] = a[id.x]; }\n",
	    PC5809_SHADER_LIMIT);
	bad(&g, IN OUT "override n: u32;\n" MAIN("o[id.x] = a[id.x] + n;"),
	    PC2042_SPECIALISE_VALUE);
	assert_int_equal(count(&g, NULL), 1);
	stop(&g);
}

static void test_chain_registry__names_are_moved_by_their_owner(void **state)
{
	rig g = start_default();
	pctl_request r = upload_of("bob", IN OUT SUM);
	pctl_request alias = {.kind = PCTL_MSG_NAME};
	pctl_request withdraw = {.kind = PCTL_MSG_NAME};
	pctl_alias_row row;
	pctl_msg_binding b;
	char cid[PCTL_CID_TEXT_SIZE];

	(void)state;
	cid_of(IN OUT SUM, cid);
	accepted(&g, &r);
	alias.as.name = (pctl_msg_name){"ann", PCTL_NAME_ALIAS, 0, "sum", g.input};
	refused_with(&g, &alias, PC5804_SHADER_UNKNOWN);
	alias.as.name.cid = g.shader;
	accepted(&g, &alias);
	accepted(&g, &alias); /* nothing to decide */
	alias.as.name.cid = cid;
	alias.as.name.sender = "bob";
	refused_with(&g, &alias, PC5821_ALIAS_OWNER);
	alias.as.name.sender = "ann";
	accepted(&g, &alias);
	assert_int_equal(pctl_aliases_read(pctl_cursor(g.chain), "sum", &call, &row), PCTL_OK);
	assert_string_equal(row.cid, cid);
	assert_true(row.decision == 2);
	forget();
	assert_int_not_equal(pctl_aliases_read(pctl_cursor(g.chain), "no", &call, &row), PCTL_OK);
	assert_int_equal(refused[0], PC5822_ALIAS_UNKNOWN);
	withdraw.as.name = (pctl_msg_name){"ann", PCTL_NAME_DEPRECATE, 0, "", cid};
	refused_with(&g, &withdraw, PC5823_SHADER_OWNER);
	withdraw.as.name.sender = "bob";
	accepted(&g, &withdraw);
	accepted(&g, &withdraw);
	alias.as.name.name = "other";
	refused_with(&g, &alias, PC5805_SHADER_DEPRECATED);
	r = job_of(&g, &b);
	r.as.execute.shader_cid = cid;
	refused_with(&g, &r, PC5805_SHADER_DEPRECATED);
	stop(&g);
}

static void bond(rig *g, const char *name, uint64_t amount)
{
	pctl_request r = ledger_of(PCTL_LEDGER_CREDIT, name, name, amount + 10);

	accepted(g, &r);
	r = ledger_of(PCTL_LEDGER_BOND, name, "", amount);
	accepted(g, &r);
}

static void test_chain_registry__a_verdict_slashes_once(void **state)
{
	rig g = start_default();
	pctl_request r = {.kind = PCTL_MSG_VERDICT, .as.verdict = {"v1", "cheat", g.input, "", ""}};
	pctl_ledger_account a;

	(void)state;
	refused_with(&g, &r, PC5714_LEDGER_ACCOUNT);
	bond(&g, "v1", 500);
	bond(&g, "v2", 400);
	bond(&g, "v3", 300);
	r.as.verdict.accused = "ann";
	refused_with(&g, &r, PC5825_VERDICT_VOTE); /* no bond to take */
	bond(&g, "cheat", 1000);
	r.as.verdict = (pctl_msg_verdict){"ann", "cheat", g.input, "", ""};
	refused_with(&g, &r, PC5825_VERDICT_VOTE); /* no bond to vote with */
	r.as.verdict.sender = "cheat";
	refused_with(&g, &r, PC5825_VERDICT_VOTE); /* against itself */
	r.as.verdict.sender = "v1";
	accepted(&g, &r);			   /* 500 of 1200: 801 are needed */
	refused_with(&g, &r, PC5825_VERDICT_VOTE); /* again */
	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g.chain), "cheat", &call, &a),
			 PCTL_OK);
	assert_true(a.bond == 1000);
	r.as.verdict.sender = "v2";
	accepted(&g, &r);
	assert_int_equal(pctl_ledger_account_read(pctl_cursor(g.chain), "cheat", &call, &a),
			 PCTL_OK);
	assert_true(a.bond == 900);
	r.as.verdict.sender = "v3";
	refused_with(&g, &r, PC5718_LEDGER_VERDICT);
	assert_int_equal(pctl_ledger_check(pctl_cursor(g.chain), &call), PCTL_OK);
	stop(&g);
}

PCTL_TESTS_MAIN(PCTL_TEST(test_chain_registry__an_upload_is_kept_once),
		PCTL_TEST(test_chain_registry__every_rule_is_kept),
		PCTL_TEST(test_chain_registry__names_are_moved_by_their_owner),
		PCTL_TEST(test_chain_registry__a_verdict_slashes_once))
