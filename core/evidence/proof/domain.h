/* Where cases come from: a domain gives tuple number i as a pure function of itself, so that any block can be made
 * anywhere at any time and nothing is ever collected. */
#ifndef PIPECTL_EVIDENCE_PROOF_DOMAIN_H
#define PIPECTL_EVIDENCE_PROOF_DOMAIN_H

#include "evidence/proof/evaluate.h"

enum {
	PCTL_DOMAIN_EXHAUSTIVE8 =
		1, /* all tuples of 8-bit values: u8 zero-extended, for i32 i8 sign-extended */
	PCTL_DOMAIN_EXHAUSTIVE16, /* all 16-bit values (f16, bf16; of wider integers the low 65536), one operand */
	PCTL_DOMAIN_LATTICE16, /* f16, bf16, two operands or more: every value against chosen partners, both ways */
	PCTL_DOMAIN_PAIRS16,  /* f16, bf16, two operands: all 2^32 pairs */
	PCTL_DOMAIN_EXAMPLES, /* classes, boundaries and kept regressions of the op */
	PCTL_DOMAIN_ADVERSARIAL, /* products of the values devices go wrong at: 0, 1, width, top bit, all ones, powers of
					two and their neighbours; for floats zeros, subnormals, neighbours of 1, ties, largest,
					infinities, NaNs with payloads */
	PCTL_DOMAIN_RANDOM /* uniform bits; for floats half of them with middling exponents */
};

/*
 * EXAMPLES are set by whoever made the domain, and live as long as it: n_cases - n_kept examples, of which the first
 * n_vars values count, then n_kept tuples of n_vars values as they are (16 bytes each, least significant first). The
 * values of an example are bits of f32 for f16 and bf16, which take them rounded; of u128 they are the low words.
 */
typedef struct pctl_domain {
	uint32_t kind, dtype, n_vars, reserved;
	uint64_t seed, n_cases, n_kept;
	const pctl_example *const *examples;
	const uint8_t (*kept)[16];
} pctl_domain;

/* kind's number of cases is set (RANDOM, EXAMPLES: `cases`); 0 cases where the kind has no meaning for dtype and
 * n_vars. n_vars is at most 4; with none, only EXAMPLES have a meaning: one case. */
pctl_domain pctl_domain_make(uint32_t kind, uint32_t dtype, uint32_t n_vars, uint64_t seed,
			     uint64_t cases);
/* Tuples first .. first + n - 1 into n_vars columns of dtype, whose data has room. */
void pctl_domain_fill(const pctl_domain *d, uint64_t first, uint64_t n, pctl_column *columns);
/* "u8 exhaustive, 65536 cases". */
void pctl_domain_describe(const pctl_domain *d, char *out, size_t n);

uint64_t pctl_proof_dtype_bytes(uint32_t dtype); /* 16 of u128 */
const char *pctl_proof_dtype_name(uint32_t dtype);

/* A float given as bits of f32, rounded to nearest even to f16 or bf16; of a NaN the sign and the upper bits of the
 * payload stay. Another dtype's bits pass as they are. */
uint32_t pctl_proof_from_f32(uint32_t bits, uint32_t dtype);

#endif
