/* A certificate: what was proved of one device, unit by unit, with the level that follows from it by rule. It is
 * collected from journals, written as a signed text in a canonical form, and read back only when writing it again gives
 * the same bytes. Not here: how blocks are run (run.h) and what is looked for in a heap of certificates (found.h). */
#ifndef PIPECTL_EVIDENCE_CERTIFY_CERTIFICATE_H
#define PIPECTL_EVIDENCE_CERTIFY_CERTIFICATE_H

#include "foundation/base/arena.h"
#include "foundation/base/str.h"
#include "foundation/record/record.h"
#include "runtime/cas/sign.h"
#include "evidence/certify/plan.h"
#include "runtime/device/profile.h"

#define PCTL_CERTIFICATE_SCHEMA "pipectl.certificate/2"
/* Strips of digests over all units: what keeps a certificate below the size of a configuration text. */
#define PCTL_CERTIFICATE_STRIPS 24000u
#define PCTL_CERTIFICATE_UNIT_STRIPS 64u

typedef struct pctl_certificate_pair {
	const char *key, *value;
} pctl_certificate_pair;

/*
 * One unit and what came of it.
 *
 * planned  cases as the unit was declared; cases (judged), failures (of those), skipped (not judged): sums over blocks
 * not_run  blocks that ended in an internal failure; cause: of the first
 * strip    blocks that one digest stands for: the block's own where it is 1, else SHA-256 over the digests of the
 *          blocks in order (all zero of a block that was not run); n_strips 0 for MEASURED units
 * value    of a MEASURED unit, of the first block that has one
 * failed   1: `first` is the first counterexample
 */
typedef struct pctl_certificate_unit {
	const char *subject, *op, *name, *domain, *program, *value, *cause;
	uint32_t kind, level, track, flags;
	uint64_t planned, n_blocks, cases, failures, skipped, not_run, strip;
	uint32_t n_strips, failed;
	uint8_t (*digests)[PCTL_DIGEST_BYTES];
	pctl_counterexample first;
} pctl_certificate_unit;

/* An op that has units, and the level that they give it. */
typedef struct pctl_certificate_op {
	const char *op, *cause;
	uint32_t level, reserved;
} pctl_certificate_op;

/* Made by trying a sample of another certificate with the files that are here, not by running all of it; of "": not so.
 * of: SHA-256 of that one's file; signer: who signed it; sample in millionths of its strips; seed: of the strips and
 * of the shapes they were run in; strips and cases: run again. */
typedef struct pctl_certificate_confirmed {
	const char *of, *signer;
	uint64_t sample_ppm, seed, strips, cases;
} pctl_certificate_confirmed;

typedef struct pctl_certificate {
	pctl_arena *arena;
	/* The head: what was proved on what, with which files. */
	const char *version, *device, *driver, *selector, *profile;
	const char *backend, *backend_version, *backend_sha256; /* the plugin and its library */
	const char *driver_files; /* that and the driver's libraries, pctl_session_files */
	const char *semantics, *suite,
		*kit;	  /* versions: of meaning, of the engine suite, of the probe */
	const char *host; /* SHA-256 over program and worker, pctl_registry_host */
	const pctl_certificate_pair *identity,
		*libraries;		/* fact and value; id and SHA-256 of the file */
	const char *const *regressions; /* lines that were among the examples */
	uint32_t n_identity, n_libraries, n_regressions, n_units;
	pctl_proof_params params;
	/* Seeds of the shapes that its blocks were run in (runtime/exec/shape.h), one a process, in hex; "" where it is not known. No
	 * digest depends on them: they are there to run the same again. */
	const char *shapes;
	/* Libraries that were mapped later than driver_files was taken, by the end: a session that maps another is not what
	 * was proved. Name and SHA-256, each once, ordered. */
	const pctl_certificate_pair *late;
	uint32_t n_late, reserved;
	pctl_certificate_confirmed confirmed;
	uint8_t plan[PCTL_DIGEST_BYTES]; /* of the list of units */
	/* What came of it. */
	pctl_certificate_unit *units;
	/* By rule, from the above (pctl_certificate_finish). */
	pctl_certificate_op *ops;
	uint32_t n_ops, granted;
	const char *cause; /* why not the level asked for, or "" */
	uint64_t n_blocks, cases, failures, skipped, not_run;
	uint8_t digest[PCTL_DIGEST_BYTES]; /* SHA-256 over all digests of all strips, in order */
	/* Of the file. */
	const char *made; /* "2026-01-31T12:00:00Z", in no digest */
	char signer[PCTL_PUBLIC_KEY_TEXT];
	const char *path;
} pctl_certificate;
extern const pctl_record_type pctl_certificate_type, pctl_certificate_head_type, pctl_units_type;
/* The level of pctl_proof_params, and the kind of a unit. */
extern const pctl_record_coding pctl_level_coding, pctl_unit_kind_coding;

pctl_status pctl_certificate_create(const pctl_call *call, pctl_certificate **out);
/* NULL is fine. */
void pctl_certificate_destroy(pctl_certificate *c);

/* Name, driver, identity and profile key of an opened device, from the bench, the plugin that drives it, its op libraries
 * and the host. */
pctl_status pctl_certificate_describe(pctl_certificate *c, pctl_proof_context *b,
				      const pctl_call *call);

/* c->late from such lines as pctl_session_late_files gives, in any order, each any number of times. */
pctl_status pctl_certificate_take_late(pctl_certificate *c, const char *lines,
				       const pctl_call *call);

/* The head as lines "key<TAB>value", the same for all shards of a proof; and back. Errors of reading: PC5504. */
pctl_status pctl_certificate_head_text(const pctl_certificate *c, pctl_str_buf *out,
				       const pctl_call *call);
pctl_status pctl_certificate_head_read(pctl_certificate *c, const char *name, const char *text,
				       size_t n, const pctl_call *call);

/* Units without results, from a list's text (plan.h). Errors: PC5504. */
pctl_status pctl_certificate_units_read(pctl_certificate *c, const char *name, const char *text,
					const pctl_call *call);
/* The text of the list, from the units. */
pctl_status pctl_certificate_units_text(const pctl_certificate *c, pctl_str_buf *out,
					const pctl_call *call);
/* Room for the digests of every unit: strips as long as the number of units asks for. */
pctl_status pctl_certificate_strips(pctl_certificate *c, const pctl_call *call);

/* Sums, digest and levels. */
pctl_status pctl_certificate_finish(pctl_certificate *c, const pctl_call *call);

/* The text before it is sealed. Errors: PC5508 (longer than a reader would take). */
pctl_status pctl_certificate_text(const pctl_certificate *c, pctl_str_buf *out,
				  const pctl_call *call);
/* Seal and write; signer and path are set. */
pctl_status pctl_certificate_write(pctl_certificate *c, const char *path, const pctl_signer *signer,
				   const pctl_call *call);

/*
 * Read and check a file: signature, schema, sums, digest, levels by the rule, and that it is the canonical text of
 * what it says. Errors: PC5012 (signature), PC5505 (no certificate of this schema, or a value is missing), PC5506 (it
 * contradicts itself; the message says where).
 */
pctl_status pctl_certificate_read(const char *path, const pctl_call *call, pctl_certificate **out);

/* Control characters, quotes that would not come back, and bytes beyond ASCII made blanks, in the arena. */
const char *pctl_certificate_clean(pctl_arena *arena, const char *text);

#endif
