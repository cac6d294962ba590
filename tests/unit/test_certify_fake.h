/* Units whose answers are a function of unit, block and seed, for tests of what runs them: any of them can be made to
 * fail, to be skipped, to be lost, or to answer otherwise than the others' proofs. */
#ifndef PIPECTL_TEST_CERTIFY_FAKE_H
#define PIPECTL_TEST_CERTIFY_FAKE_H

#include <stdlib.h>

#include "foundation/base/file.h"
#include "evidence/certify/level.h"
#include "evidence/certify/replay.h"
#include "evidence/certify/regressions.h"
#include "evidence/certify/run.h"
#include "main.h"

#define FAKE_UNITS 8u

/* One unit of the fake provider. fail_at, lose_at: block + 1, or 0. lost: how often it loses the device. */
typedef struct fake_unit {
	const char *subject, *op, *name;
	uint32_t kind, level, flags;
	uint64_t n_blocks;
	uint64_t fail_at, lose_at, lost, cases, skipped;
	uint64_t salt;
	pctl_status failure; /* of block 0, when it is not PCTL_OK */
} fake_unit;

/* The proof that all tests begin with: granted L4. */
static const fake_unit fake_proof[FAKE_UNITS] = {
	{.subject = "fake.add@1",
	 .op = "fake.add@1",
	 .name = "admission",
	 .kind = PCTL_UNIT_GATE,
	 .level = 1,
	 .flags = PCTL_UNIT_HOST,
	 .n_blocks = 1,
	 .cases = 10},
	{.subject = "fake.add@1 u32",
	 .op = "fake.add@1",
	 .name = "random",
	 .kind = PCTL_UNIT_PARITY,
	 .level = 1,
	 .n_blocks = 7,
	 .cases = 100},
	{.subject = "fake.add@1 u32",
	 .op = "fake.add@1",
	 .name = "commutative",
	 .kind = PCTL_UNIT_LAW,
	 .level = 2,
	 .n_blocks = 3,
	 .cases = 100},
	{.subject = "fake.div@1 u32",
	 .op = "fake.div@1",
	 .name = "random",
	 .kind = PCTL_UNIT_PARITY,
	 .level = 1,
	 .n_blocks = 200,
	 .cases = 5},
	{.subject = "fake.div@1 u32",
	 .op = "fake.div@1",
	 .name = "repeats",
	 .kind = PCTL_UNIT_DETERMINISM,
	 .level = 2,
	 .n_blocks = 2,
	 .cases = 50},
	{.subject = "engine",
	 .op = NULL,
	 .name = "atomics",
	 .kind = PCTL_UNIT_INVARIANT,
	 .level = 3,
	 .n_blocks = 4,
	 .cases = 9},
	{.subject = "fake.add@1(fake.add@1) u32",
	 .op = NULL,
	 .name = "associative",
	 .kind = PCTL_UNIT_COMPOSITION,
	 .level = 4,
	 .n_blocks = 2,
	 .cases = 30},
	{.subject = "fake.add@1 u32",
	 .op = "fake.add@1",
	 .name = "throughput",
	 .kind = PCTL_UNIT_BASELINE,
	 .level = 4,
	 .flags = PCTL_UNIT_MEASURED,
	 .n_blocks = 1,
	 .cases = 1},
};

static fake_unit fake[FAKE_UNITS];
static uint32_t fake_track = PCTL_TRACK_INTEGER;
static uint64_t fake_runs, fake_cancel_after; /* blocks run; cancelled at this many, 0: never */
static const pctl_call fake_quiet = {.head = PCTL_HEAD(pctl_call)};

static uint32_t fake_cancelled(void *ctx)
{
	(void)ctx;
	return fake_cancel_after != 0 && fake_runs >= fake_cancel_after;
}

static const pctl_call fake_call = {.head = PCTL_HEAD(pctl_call), .cancelled = fake_cancelled};

static pctl_status fake_run(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
			    const pctl_call *call, pctl_block *out)
{
	fake_unit *f = u->ctx;
	const uint64_t what[] = {f->salt, block, b->seed, (uint64_t)(f - fake)};
	pctl_cid cid;

	fake_runs++;
	assert_true(block < u->n_blocks);
	if (f->lose_at == block + 1 && f->lost > 0) {
		f->lost--;
		return pctl_refuse(call, PC4_CANCELLED, "the fake device is gone") == PCTL_OK
			       ? PCTL_OK
			       : PCTL_E_DEVICE_LOST;
	}
	if (f->failure != PCTL_OK && block == 0)
		return pctl_refuse(call, PC5201_UNSUPPORTED, "no\tsuch\ninstruction");
	assert_int_equal(pctl_cid_of(what, sizeof(what), call, &cid), PCTL_OK);
	out->cases = f->cases;
	out->skipped = f->skipped;
	if (f->flags & PCTL_UNIT_MEASURED)
		strcpy(out->value, "1.5e9 elements/s");
	else
		memcpy(out->digest, cid.digest, sizeof(out->digest));
	if (f->fail_at == block + 1) {
		out->failures = 2;
		strcpy(out->first.inputs, "0x00000001 0x00000002");
		strcpy(out->first.got, "0x4");
		strcpy(out->first.want, "0x3");
		strcpy(out->first.law, "add(a, b) = \"b\" + \\a");
		out->first.minimal = 1;
	}
	return PCTL_OK;
}

static pctl_status fake_add(pctl_proof_context *b, const pctl_selection *s, uint64_t programs,
			    const pctl_call *call, pctl_units *list)
{
	pctl_status status = PCTL_OK;

	(void)programs;
	(void)b;
	for (uint32_t i = 0; status == PCTL_OK && i < FAKE_UNITS; i++) {
		const pctl_unit u = {.subject = fake[i].subject,
				     .op = fake[i].op,
				     .name = fake[i].name,
				     .domain = "random u32, seed 7",
				     .kind = fake[i].kind,
				     .level = fake[i].level,
				     .track = fake_track,
				     .flags = fake[i].flags,
				     .n_cases = fake[i].cases * fake[i].n_blocks,
				     .n_blocks = fake[i].n_blocks,
				     .ctx = &fake[i],
				     .run = fake_run};

		if (u.kind != 0 && (s->ops == NULL || u.op == NULL || strcmp(u.op, s->ops) == 0))
			status = pctl_units_add(list, &u, call);
	}
	return status;
}

static const pctl_provider fake_providers[] = {{"fake", ~0u, 1, fake_add}};

/* A proof in a directory of its own. */
typedef struct fake_world {
	char dir[64], journals[96], keys[96];
	pctl_proof_context context;
	pctl_certify_options o;
	pctl_signer *signer;
} fake_world;

static uint32_t fake_reopened;
static pctl_status fake_reopen_status;

static pctl_status fake_reopen(pctl_proof_context *b, const pctl_call *call)
{
	(void)b;
	(void)call;
	fake_reopened++;
	return fake_reopen_status;
}

static inline void fake_begin(fake_world *w)
{
	memset(w, 0, sizeof(*w));
	memcpy(fake, fake_proof, sizeof(fake));
	fake_track = PCTL_TRACK_INTEGER;
	fake_runs = fake_cancel_after = 0;
	fake_reopened = 0;
	fake_reopen_status = PCTL_OK;
	strcpy(w->dir, "/tmp/pctl-certify-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	snprintf(w->journals, sizeof(w->journals), "%s/proof", w->dir);
	snprintf(w->keys, sizeof(w->keys), "%s/keys", w->dir);
	w->context.seed = 7;
	w->o = (pctl_certify_options){
		.context = &w->context,
		.reopen = fake_reopen,
		.providers = fake_providers,
		.n_providers = 1,
		.params = {.track = PCTL_TRACK_INTEGER, .level = 4, .seed = 7, .cases = 1u << 20},
		.dir = w->journals,
		.shard = {1, 1}};
	assert_int_equal(pctl_signer_open(w->keys, &fake_quiet, &w->signer), PCTL_OK);
}

static inline void fake_end(fake_world *w)
{
	char command[128];

	pctl_signer_close(w->signer);
	snprintf(command, sizeof(command), "rm -r %s", w->dir);
	assert_int_equal(system(command), 0);
}

static inline pctl_certificate *fake_collect(fake_world *w)
{
	pctl_certificate *c;

	assert_int_equal(pctl_certify_collect(w->journals, &fake_quiet, &c), PCTL_OK);
	return c;
}

/* The whole proof, run at once. */
static inline pctl_certificate *fake_prove(fake_world *w)
{
	pctl_certify_outcome out;

	assert_int_equal(pctl_certify_run(&w->o, &fake_call, &out), PCTL_OK);
	return fake_collect(w);
}

#endif
