/* What tests of the registry and of submitting share: a chain in memory over a store in memory, its messages, and one
 * shader that sums pairs. */
#ifndef PIPECTL_TESTS_CHAIN_SUBMIT_H
#define PIPECTL_TESTS_CHAIN_SUBMIT_H

#include "main.h"

#ifndef JOB_LIMIT
#define JOB_LIMIT 100000 /* gas: enough under version 1 of the rules */
#endif

#include <stdlib.h>

#include "test_chain_author.h"
#include "chain/chain.h"
#include "chain/registry/registry.h"
#include "chain/transition/submit.h"
#include "test_chain_bytes.h"

#define STRUCTS                                                        \
	"struct U { @size(4) n: u32, @size(4) k: i32, }\n"             \
	"@group(0) @binding(0) var<storage, read> a: array<u32>;\n"    \
	"@group(0) @binding(1) var<uniform> u: U;\n"                   \
	"@group(0) @binding(2) var<storage, read> b: array<u32, 4>;\n" \
	"@group(1) @binding(0) var<storage, read_write> o: array<u32>;\n"
#define MAXIMA "//# max dispatch = 8, 1, 1\n//# max u.n = 9\n"
#define BODY                                                        \
	"override canonical_scale: u32;\noverride add: u32 = 1u;\n" \
	"@compute @workgroup_size(4) fn main("                      \
	"@builtin(global_invocation_id) id: vec3<u32>) {\n"         \
	"  o[id.x] = a[id.x] + b[id.x & 3u] + u.n + canonical_scale + add;\n}\n"
#define SHADER MAXIMA STRUCTS BODY

typedef struct rig {
	pctl_store *store;
	pctl_kernels *kernels;
	pctl_chain *chain;
	char shader[PCTL_CID_TEXT_SIZE], input[PCTL_CID_TEXT_SIZE], uniform[PCTL_CID_TEXT_SIZE];
	char job[PCTL_JOB_TEXT_SIZE]; /* of the last accepted execute message */
	uint64_t clock;
} rig;

static inline void put(rig *g, const void *data, uint64_t n, char out[PCTL_CID_TEXT_SIZE])
{
	pctl_cid cid;

	assert_int_equal(pctl_store_put(g->store, data, n, &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, out);
}

static inline pctl_status take(rig *g, const pctl_request *r)
{
	pctl_response out;
	pctl_status status = pctl_chain_apply(g->chain, r, &call, &out);

	if (status == PCTL_OK && r->kind == PCTL_MSG_EXECUTE) {
		snprintf(g->job, sizeof(g->job), "%s", out.as.execute.job_id);
		g->clock = out.as.execute.logical_clock;
	}
	pctl_response_destroy(&out);
	return status;
}

static inline pctl_request upload_of(const char *sender, const char *text)
{
	return (pctl_request){.kind = PCTL_MSG_UPLOAD,
			      .as.upload = {.sender = sender,
					    .source = (const uint8_t *)text,
					    .n_source = strlen(text),
					    .description = "sums",
					    .implements = ""}};
}

static inline pctl_request ledger_of(uint32_t op, const char *sender, const char *to,
				     uint64_t amount)
{
	return (pctl_request){.kind = PCTL_MSG_LEDGER, .as.ledger = {sender, op, 0, to, amount}};
}

/* Bytes that are state for 100 blocks. */
static inline pctl_request blob_of(const char *sender, const void *data, uint64_t n)
{
	return (pctl_request){.kind = PCTL_MSG_BLOB, .as.blob = {sender, data, n, 100}};
}

/* A job of the rig's shader: 2 workgroups of 4 over 32 bytes. */
static inline pctl_request job_of(const rig *g, pctl_msg_binding *b)
{
	*b = (pctl_msg_binding){0, 2, g->input};
	return (pctl_request){.kind = PCTL_MSG_EXECUTE,
			      .as.execute = {.sender = "ann",
					     .shader_cid = g->shader,
					     .input = g->input,
					     .dispatch = {2, 1, 1},
					     .gas_limit = JOB_LIMIT,
					     .bindings = b,
					     .n_bindings = 1,
					     .uniform_cid = g->uniform,
					     .output_bytes = 32,
					     .entry = ""}};
}

/* A chain that has not begun. */
static inline rig not_begun(const pctl_params *genesis)
{
	pctl_chain_options o = {.genesis = genesis};
	rig g = {.clock = 0};

	assert_int_equal(pctl_store_open_memory(&call, &g.store), PCTL_OK);
	g.kernels = pctl_kernels_create(NULL);
	assert_non_null(g.kernels);
	o.store = g.store;
	o.kernels = g.kernels;
	assert_int_equal(pctl_chain_open(&o, &call, &g.chain), PCTL_OK);
	return g;
}

static inline rig start(const pctl_params *genesis)
{
	static const uint8_t zeros[32];
	/* {"k": -1, "n": 9} */
	static const uint8_t document[] = {0xa2, 0x61, 'k', 0x20, 0x61, 'n', 9};
	pctl_request r;
	rig g = not_begun(genesis);
	pctl_cid cid;

	if (genesis->values[PCTL_PARAM_RULES] != 1)
		author_begin(g.chain, 1, &call);
	put(&g, zeros, sizeof(zeros), g.input);
	put(&g, document, sizeof(document), g.uniform);
	r = ledger_of(PCTL_LEDGER_CREDIT, "ann", "ann", 1000000);
	assert_int_equal(take(&g, &r), PCTL_OK);
	if (genesis->values[PCTL_PARAM_RULES] != 1) {
		r = blob_of("ann", zeros, sizeof(zeros));
		assert_int_equal(take(&g, &r), PCTL_OK);
		r = blob_of("ann", document, sizeof(document));
		assert_int_equal(take(&g, &r), PCTL_OK);
	}
	r = upload_of("ann", SHADER);
	forget();
	if (take(&g, &r) != PCTL_OK)
		fail_msg("%s", words);
	assert_int_equal(pctl_cid_of(SHADER, strlen(SHADER), &call, &cid), PCTL_OK);
	pctl_cid_format(&cid, g.shader);
	return g;
}

static inline rig start_default(void)
{
	pctl_params p;

	pctl_params_default(&p);
	return start(&p);
}

static inline void stop(rig *g)
{
	pctl_chain_close(g->chain);
	pctl_kernels_destroy(g->kernels);
	pctl_store_close(g->store);
}

/* The message is refused with that code first, and no row changed. */
static inline void refused_with(rig *g, const pctl_request *r, uint32_t code)
{
	pctl_chain_state *s = pctl_cursor(g->chain);
	uint8_t before[PCTL_DIGEST_BYTES], after[PCTL_DIGEST_BYTES];
	pctl_status status;

	assert_int_equal(pctl_chain_root(s, &call, before), PCTL_OK);
	forget();
	status = take(g, r);
	if (n_refused == 0 || refused[0] != code)
		print_error("PC%u, not PC%u: %s\n", n_refused == 0 ? 0 : refused[0], code, words);
	assert_int_not_equal(status, PCTL_OK);
	assert_int_equal(refused[0], code);
	assert_int_equal(pctl_chain_root(s, &call, after), PCTL_OK);
	assert_memory_equal(before, after, sizeof(before));
}

static inline void accepted(rig *g, const pctl_request *r)
{
	forget();
	if (take(g, r) != PCTL_OK)
		fail_msg("%s", words);
}

#endif
