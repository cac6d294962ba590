/* The chain of an installation as any client has it, without the tool: what it is opened with, under which rules, on what it
 * runs, and that nobody gets a pipeline past the policy. */
#include "main.h"

#include <stdlib.h>
#include <unistd.h>

#include "chain/home/home.h"
#include "chain/home/pipeline.h"
#include "test_chain_bytes.h"

#define SHADER                                                                                  \
	"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"                             \
	"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"                       \
	"@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n" \
	"  o[id.x] = a[id.x] + 1u;\n}\n"
#define JOB(id, from)                                                                      \
	"{ id = \"" id "\"; shader = \"s.wgsl\"; dispatch = [\"n/4\"]; in : { a = \"" from \
	"\"; }; out : { o = \"u32[n]\"; }; }"
#define PIPELINE                                                                   \
	"pipeline : { name = \"t\"; class = \"integer\"; inputs : { x : { type = " \
	"\"u32[n]\"; }; }; jobs = ( " JOB("one", "$x") ", " JOB(                   \
		"two", "one.o") " );"                                              \
				" outputs : { o = \"two.o\"; }; };\n"

static char dir[64], home[96], pipe_path[96], data_path[96];

static void write_file(const char *name, const char *text, char out[96])
{
	FILE *f;

	snprintf(out, 96, "%s/%s", dir, name);
	f = fopen(out, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	char path[96];

	(void)state;
	forget();
	strcpy(dir, "/tmp/pctl-home-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(home, sizeof(home), "%s/home", dir);
	write_file("s.wgsl", SHADER, path);
	write_file("t.pipe.cfg", PIPELINE, pipe_path);
	write_file("x", "12345678abcdefgh", data_path);
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static void open_host(pctl_installation *in, const char *policy)
{
	static const char config[] = PIPECTL_SOURCE_DIR "/conf/pipectl.cfg";
	const pctl_installation_options o = {.home = home, .config = config, .policy = policy};

	assert_int_equal(pctl_installation_init(in, &o, &call), PCTL_OK);
}

static void test_chain_home__rules_are_the_chains_or_those_it_would_begin_with(void **state)
{
	pctl_installation in;
	pctl_params p, own;
	pctl_chain *c;
	uint32_t from;

	(void)state;
	open_host(&in, NULL);
	assert_int_equal(pctl_home_rules(&in, NULL, &call, &p, &from), PCTL_OK);
	assert_int_equal(from, PCTL_RULES_OF_GENESIS);
	assert_int_equal(pctl_home_chain(&in, NULL, &call, &c), PCTL_OK);
	assert_int_equal(pctl_home_params(c, &call, &own), PCTL_OK);
	assert_memory_equal(&p, &own, sizeof(p));
	pctl_chain_close(c);
	assert_int_equal(pctl_home_rules(&in, NULL, &call, &p, &from), PCTL_OK);
	assert_int_equal(from, PCTL_RULES_OF_CHAIN);
	assert_int_equal(pctl_home_rules(&in, "2", &call, &p, &from), PCTL_OK);
	assert_int_equal(from, PCTL_RULES_ASKED);
	assert_int_equal(p.values[PCTL_PARAM_RULES], 2);
	forget();
	assert_int_not_equal(pctl_home_rules(&in, "99", &call, &p, &from), PCTL_OK);
	assert_int_equal(refused[0], PC5721_PARAM_VALUE);
	pctl_installation_close(&in);
}

static void test_chain_home__an_agreement_of_devices_is_not_passed_over(void **state)
{
	char policy[96];
	pctl_installation in;
	pctl_run_options run;
	pctl_executor e;

	(void)state;
	write_file("quorum.cfg", "policy : { quorum = \"2 of 3\"; };\n", policy);
	open_host(&in, policy);
	assert_int_equal(pctl_installation_run_options(&in, &call, &run), PCTL_OK);
	forget();
	assert_int_not_equal(pctl_home_executor(&run, NULL, &call, &e), PCTL_OK);
	assert_int_equal(refused[0], PC5237_QUORUM_DEVICES);
	pctl_executor_close(&e);
	/* The one that others are compared with is named, and alone. */
	assert_int_equal(pctl_home_executor(&run, PCTL_REFERENCE, &call, &e), PCTL_OK);
	pctl_executor_close(&e);
	pctl_installation_close(&in);
}

/* ---- pipelines ----------------------------------------------------------------------------- */

static uint32_t n_taken, stop_at;

static pctl_status note_taken(void *ctx, const char *name, const pctl_chain_job *job)
{
	(void)ctx;
	assert_non_null(name);
	assert_int_equal(job->status, PCTL_JOB_PENDING);
	return ++n_taken == stop_at ? PCTL_E_CANCELLED : PCTL_OK;
}

static pctl_status submit(pctl_installation *in, pctl_chain *c)
{
	const pctl_setting x = {"x", data_path};
	const pctl_home_submit o = {
		.sender = "ann", .gas_limit = 100000, .ins = &x, .n_ins = 1, .taken = note_taken};
	pctl_loaded_pipeline p = {.revision = NULL};
	pctl_status status = pctl_load_pipeline(in, pipe_path, NULL, 0, &call, &p);

	n_taken = 0;
	forget();
	if (status == PCTL_OK)
		status = pctl_home_submit_pipeline(in, c, &p, &o, &call);
	pctl_loaded_pipeline_close(&p);
	return status;
}

static void open_with_gas(pctl_installation *in, const char *policy, pctl_chain **c)
{
	const pctl_request credit = {
		.kind = PCTL_MSG_LEDGER,
		.as.ledger = {
			.sender = "ann", .op = PCTL_LEDGER_CREDIT, .to = "ann", .amount = 1000000}};

	open_host(in, policy);
	assert_int_equal(pctl_home_chain(in, NULL, &call, c), PCTL_OK);
	assert_int_equal(pctl_chain_apply(*c, &credit, &call, NULL), PCTL_OK);
}

static uint64_t n_inbox(pctl_chain *c)
{
	pctl_chain_info info;

	assert_int_equal(pctl_chain_info_read(c, &call, &info), PCTL_OK);
	return info.n_inbox;
}

static void test_chain_home__a_pipeline_is_a_batch_all_or_none(void **state)
{
	pctl_installation in;
	pctl_chain *c;

	(void)state;
	open_with_gas(&in, NULL, &c);
	stop_at = 2;
	assert_int_equal(submit(&in, c), PCTL_E_CANCELLED);
	assert_int_equal(n_taken, 2);
	assert_int_equal(n_inbox(c), 1); /* the credit */
	stop_at = 0;
	if (submit(&in, c) != PCTL_OK)
		fail_msg("%s", words);
	assert_int_equal(n_inbox(c), 4); /* and an upload, two jobs */
	pctl_chain_close(c);
	pctl_installation_close(&in);
}

static void test_chain_home__no_client_gets_past_the_policy(void **state)
{
	static const struct {
		const char *name, *policy;
		uint32_t code;
	} wants[] = {{"signed.cfg",
		      "policy : { signed = \"required\"; signers = ( "
		      "\"0000000000000000000000000000000000000000000000000000000000000000\" ); };",
		      PC6011_REPO_UNSIGNED},
		     {"clean.cfg", "policy : { dirty = \"refuse\"; };", PC6010_REPO_DIRTY}};

	(void)state;
	for (size_t i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		pctl_installation in;
		pctl_chain *c;
		char policy[96];

		write_file(wants[i].name, wants[i].policy, policy);
		open_with_gas(&in, policy, &c);
		assert_int_not_equal(submit(&in, c), PCTL_OK);
		assert_int_equal(refused[0], wants[i].code);
		assert_int_equal(n_taken, 0);
		assert_int_equal(n_inbox(c), 1 + i); /* credits */
		pctl_chain_close(c);
		pctl_installation_close(&in);
	}
}

#define HOME_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
PCTL_TESTS_MAIN(HOME_TEST(test_chain_home__rules_are_the_chains_or_those_it_would_begin_with),
		HOME_TEST(test_chain_home__an_agreement_of_devices_is_not_passed_over),
		HOME_TEST(test_chain_home__a_pipeline_is_a_batch_all_or_none),
		HOME_TEST(test_chain_home__no_client_gets_past_the_policy))
