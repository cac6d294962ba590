/* The proof system's common ground: tracks and levels, units of proof, and the bench they run on. A proof is a fixed
 * list of units, each cut into blocks; a block is what is run, digested, written to a journal, sharded, resumed and
 * replayed. Whoever proves something (laws, engine invariants, compositions) gives units; certify runs them and
 * signs what came of it. */
#ifndef PIPECTL_EVIDENCE_PROOF_PROOF_H
#define PIPECTL_EVIDENCE_PROOF_PROOF_H

#include "foundation/base/arena.h"
#include "runtime/exec/job.h"
#include "runtime/graph/kernel.h"
#include "runtime/plugin/devices.h"

/* Tracks are never mixed in a certificate. */
enum { PCTL_TRACK_INTEGER = 1, PCTL_TRACK_FLOAT = 2, PCTL_TRACK_APPROXIMATE = 3 };
/* Levels of a track: L1 parity, L2 laws, L3 engine and ops that are plans (of floats: tensors), L4 all, with compositions and
 * baselines. "L1f" is level 1 of FLOAT, "L1a" level 1 of APPROXIMATE. */
#define PCTL_LEVEL_MAX 4u
/* "L2f" of (2, FLOAT). buf: 4 bytes. */
const char *pctl_level_name(uint32_t level, uint32_t track, char buf[8]);
/* 1 when text is a level. */
int pctl_level_parse(const char *text, uint32_t *level, uint32_t *track);

/* Cases of a block at most: the same on every device, for digests are taken block by block. */
#define PCTL_PROOF_BLOCK (1u << 18)
/* Random cases that a witnessed law needs at least for a level. */
#define PCTL_PROOF_WITNESSES 1000000u

/* What units run on. Everything outlives the units. */
typedef struct pctl_proof_context {
	pctl_registry *registry;
	const pctl_op_source *ops;
	pctl_kernels *kernels;
	pctl_profiles *profiles;
	const pctl_device_entry *entry; /* the device under proof */
	pctl_session *device;		/* opened on it */
	pctl_session *reference;	/* the `cpu` backend */
	pctl_session *sanitizer; /* the `cpu` backend with SANITIZE and COUNT; NULL: not opened */
	/* Open a further session on the device under proof (restarts, second opinions); closed by the caller with
	 * close_again, which also ends its worker. A unit that loses the device's worker puts a session opened again in
	 * `device` and closes the lost one with close_again. */
	pctl_status (*open_again)(struct pctl_proof_context *b, const pctl_call *call,
				  pctl_session **out);
	void (*close_again)(struct pctl_proof_context *b, pctl_session *s);
	void *ctx;
	uint64_t seed;
	uint64_t cases; /* random cases a unit of parity or of a law, --cases */
	uint32_t flags; /* PCTL_BENCH_* */
	uint32_t reserved;
	pctl_shapes shapes; /* what runs look like to the device; seed recorded beside results */
	const char *const *regressions; /* lines of counterexamples kept (regression.h), or NULL */
	uint32_t n_regressions;
	uint32_t reserved2;
} pctl_proof_context;
#define PCTL_PROOF_PAIRS 1u /* binary 16-bit functions over all 2^32 pairs */

/*
 * One counterexample, already made as small as it gets.
 *
 * inputs, got, want  bits in hex, operands separated by spaces; `inputs` of an engine unit is its parameters
 * law      the equation in words, or the invariant
 */
typedef struct pctl_counterexample {
	char inputs[256];
	char got[128];
	char want[128];
	char law[256];
	uint32_t minimal; /* 1: no smaller input of its neighbourhood fails */
	uint32_t reserved;
} pctl_counterexample;

/*
 * What a block gave.
 *
 * cases     judged: both sides were there and were compared; a unit that judged nothing is not proved
 * failures  of those
 * skipped   further cases, which a guard excluded (NaN, overflow) or which were too large for a law: not judged
 * digest    SHA-256 over what the device answered, a pure function of unit, block and seed on a right device;
 *           all zero for MEASURED units
 * value     a measured number in words ("1.31e9 elements/s"), or empty
 */
typedef struct pctl_block {
	uint64_t cases, failures, skipped;
	uint8_t digest[PCTL_DIGEST_BYTES];
	pctl_counterexample first; /* valid when failures != 0 */
	char value[64];
} pctl_block;

enum {
	PCTL_UNIT_PARITY = 1,  /* the device against the op's reference() */
	PCTL_UNIT_LAW,	       /* a declared law, on the device */
	PCTL_UNIT_DETERMINISM, /* repeats, shuffled submission, permuted workgroups */
	PCTL_UNIT_GATE,	       /* admission, independence, collisions: on the host */
	PCTL_UNIT_INVARIANT,   /* engine: barriers, layouts, atomics, races, generated programs */
	PCTL_UNIT_COMPOSITION, /* a derived law, on a composed kernel */
	PCTL_UNIT_BASELINE,    /* throughput, measured */
	PCTL_UNIT_REGRESSION,  /* a counterexample kept from an earlier run */
	PCTL_UNIT_KINDS
};
const char *pctl_unit_kind_name(uint32_t kind); /* "parity" */

/* Name of the parity of an op that is a plan. */
#define PCTL_UNIT_PROBLEMS "problems"

#define PCTL_UNIT_MEASURED 1u /* no digest: replay only sees that it runs */
#define PCTL_UNIT_HOST 2u     /* needs no device */

/*
 * One unit. All strings live as long as the list it is in.
 *
 * subject   "int.add@1 u32", "engine", "int.neg@1(int.add@1) u32": no tab, no newline
 * op        "int.add@1", or NULL where it is of no single op: what `certs list` has a row for
 * name      of the law, domain, invariant: unique for its subject and kind
 * domain    what inputs: "u8 exhaustive, 65536", "random u32, seed 1, 1048576": goes into certificates
 * program   CID of the kernel's wire form, empty where there is none or more than one
 * level     the lowest level of its track that needs it, 1..4
 * run       block number `block` of n_blocks. PCTL_OK with failures is an answer; another status is an internal failure
 *           (device lost, cancelled), after which the block counts as not run. One thread.
 */
typedef struct pctl_unit pctl_unit;
struct pctl_unit {
	const char *subject, *op, *name, *domain;
	char program[PCTL_CID_TEXT_SIZE];
	uint32_t kind, level, track, flags;
	uint64_t n_cases, n_blocks;
	uint64_t first_block; /* number of block 0 in the whole list, set by pctl_units_add */
	void *ctx;
	pctl_status (*run)(const pctl_unit *u, pctl_proof_context *b, uint64_t block,
			   const pctl_call *call, pctl_block *out);
};

/* The units of a proof, in a fixed order. What providers allocate for their units comes from `arena`, or is released
 * by a function they register. */
typedef struct pctl_units {
	pctl_arena *arena;
	pctl_unit *units;
	uint32_t n, capacity;
	uint64_t n_blocks;
	struct pctl_units_release *releases;
} pctl_units;

pctl_status pctl_units_create(const pctl_call *call, pctl_units **out);
/* Calls what was registered, last first. NULL is fine. */
void pctl_units_destroy(pctl_units *l);
/* Append a copy of *u. */
pctl_status pctl_units_add(pctl_units *l, const pctl_unit *u, const pctl_call *call);
pctl_status pctl_units_on_destroy(pctl_units *l, void (*release)(void *ctx), void *ctx,
				  const pctl_call *call);

/* What is asked for: comma-separated globs over "int.add@1" (NULL: all), a track, and the highest level wanted. */
typedef struct pctl_selection {
	const char *ops;
	uint32_t track;
	uint32_t level;
} pctl_selection;
/* fnmatch of each glob against "NAME@VERSION" and "NAME". */
int pctl_selection_has(const pctl_selection *s, const pctl_op_desc *op);

#endif
