/* The legaliser: a program that uses only what a device does exactly, from one that says what is
 * meant. The reference never sees its output. */
#ifndef PIPECTL_COMPILER_LEGALIZE_LEGAL_H
#define PIPECTL_COMPILER_LEGALIZE_LEGAL_H

#include "compiler/analysis/analyse.h"
#include "compiler/legalize/profile.h"
#include "pipectl/backend.h"
#include "pipectl/program.h"

/* The forms (forms/...wgsl), compiled on first need and kept. One thread at a time. */
typedef struct pctl_softfloat pctl_softfloat;

/* out: the caller destroys it. Errors: PCTL_E_NOMEM. */
pctl_status pctl_softfloat_create(const pctl_call *call, pctl_softfloat **out);
/* NULL is fine. */
void pctl_softfloat_destroy(pctl_softfloat *f);

/* Class approximate: every strict f32 operation that the device has natively, exact or not, becomes the
 * native one, and NaN keeps whatever bits the device gives it. What the device has not stays exact. */
#define PCTL_LEGAL_NATIVE 1u
/* Leave out what changes no bit: loop-invariant code stays in its loop, what is computed twice is, no loop is written twice to
 * check the lengths of arrays before it. */
#define PCTL_LEGAL_NO_HOIST 2u
#define PCTL_LEGAL_NO_NUMBER 4u
#define PCTL_LEGAL_NO_LENGTHS 8u
#define PCTL_LEGAL_PLAIN (PCTL_LEGAL_NO_HOIST | PCTL_LEGAL_NO_NUMBER | PCTL_LEGAL_NO_LENGTHS)

/*
 * profile  what is proved of the device; NULL: nothing is, floats become integers as a whole
 * forms    NULL: compiled for this call only
 * flags    PCTL_LEGAL_*
 * nesting  levels of conditions, loops and calls that the device does right (compiler/analysis/extents.h); what is deeper is
 *          flattened as far as it goes, which the caller measures. 0: any, and nothing is flattened
 * turns    of all loops of an invocation that the device does right: where a program turns more often, loops of few turns over
 *          local arrays are written out, as far as that goes. 0: any, and no loop is
 * keeps_dot4  1: a probe has shown the device's own products of packed bytes (PCTL_CAP_DOT4) to be right
 * subgroup_size, subgroup_kinds  subgroup operations of this size and these PCTL_SUBGROUP_* a probe has shown to be right:
 *          they stay where the device takes the program (pctl_legal_subgroups_fit), others exchange through workgroup memory
 * known    the dispatch that turns are counted for (pctl_program_extents); NULL: any
 * tile_products  products of matrix tiles (pctl_legal_tile_products) that a probe has shown to be right: a program whose products
 *          are all among them keeps its tiles, where votes and movements of subgroups of 32 are right, too
 */
typedef struct pctl_legal_options {
	pctl_head head;
	const pctl_profile *profile;
	pctl_softfloat *forms;
	uint32_t flags;
	uint32_t nesting;
	uint64_t turns;
	uint32_t keeps_dot4;
	uint32_t subgroup_size;
	uint32_t subgroup_kinds;
	const pctl_analysis_query *known;
	uint32_t tile_products;
} pctl_legal_options;

/*
 * A new program for a device with these caps; proofs (PCTL_INST_PROVEN) and origins are kept.
 * Strict operations become the first form of softfloat.def that the profile admits; 64-bit floats, where they are not
 * exact, and 64-bit integers, where there are none, become pairs of 32-bit words. Verified.
 *
 * options  NULL: integer programs only
 *
 * Errors: PC2501 to PC2505, naming the operation, its position and what the device lacks.
 */
pctl_status pctl_legalise(const pctl_program *p, const pctl_device_caps *caps,
			  const pctl_legal_options *options, const pctl_call *call,
			  pctl_program **out);

/* 1: the program has products of packed bytes. */
int pctl_legal_has_dot4(const pctl_program *p);

/* Kinds of subgroup operations, each of which a device may have or not. */
#define PCTL_SUBGROUP_REDUCE 1u /* over all lanes */
#define PCTL_SUBGROUP_SCAN 2u
#define PCTL_SUBGROUP_VOTE 4u /* all, any, ballot, elect */
#define PCTL_SUBGROUP_MOVE 8u /* broadcast, shuffles */
#define PCTL_SUBGROUP_KINDS 15u

/* Those of an operation, of a program; 0: none. */
uint32_t pctl_legal_subgroup_kind(uint16_t op);
uint32_t pctl_legal_subgroup_kinds(const pctl_program *p);
/* 1: the device claims subgroup operations of this size in this workgroup (PCTL_CAP_SUBGROUPS). A claim is no proof. */
int pctl_legal_subgroups_fit(const pctl_program *p, const pctl_device_caps *caps);

/* Products of matrix tiles in a program: bit (M == 16) + 2 * (N == 16) + 4 * (K == 32) + 8 * signed; of floats bit
 * 16 + (M == 16) + 2 * log2(K / 4) + 6 * (factors of f64). */
#define PCTL_TILE_PRODUCTS 0xfffffffu
uint32_t pctl_legal_tile_products(const pctl_program *p);
/* The bits of factors of f32, M 16, N 8, K 8 and 16, and of u8 and i8, M 16, N 16, K 32. */
#define PCTL_LEGAL_TILE_F32_16_8_8 (1u << 19)
#define PCTL_LEGAL_TILE_F32_16_8_16 (1u << 21)
#define PCTL_LEGAL_TILE_U8_16_16_32 (1u << 7)
#define PCTL_LEGAL_TILE_I8_16_16_32 (1u << 15)

/* Bytes of workgroup memory that legalising a program may add: a word an invocation for subgroup operations that are
 * exchanged, the words of two factors or of a tile a subgroup for matrix tiles. exact: of these, products that the device is known to do itself. 0: none. */
uint64_t pctl_legal_workgroup_bytes(const pctl_program *p, uint32_t exact);

/* Kinds of forms, dearest last. */
enum {
	PCTL_FORM_NONE = 0,
	PCTL_FORM_NATIVE = 1,
	PCTL_FORM_GUARDED = 2,
	PCTL_FORM_F64 = 3,
	PCTL_FORM_INT = 4
};

/*
 * Which form strict operation `op` on operands of `scalar` takes (FNEG and FABS: none is needed, they are bit
 * operations everywhere): the function's name, or "native". NULL, and kind PCTL_FORM_NONE: none is admitted. An F64
 * form on a device whose 64-bit floats are not exact counts as INT, for that is what it becomes.
 */
const char *pctl_legal_form(const pctl_profile *profile, const pctl_device_caps *caps, uint16_t op,
			    uint8_t scalar, uint32_t *kind);
/* 1: strict sums and products of f32 are the device's own for every operand. */
int pctl_legal_has_f32(const pctl_profile *profile, const pctl_device_caps *caps);
/* 1: sums, products and comparisons of strict f64 are the device's own, and conversions of f32 at least for normal numbers. */
int pctl_legal_has_f64(const pctl_profile *profile, const pctl_device_caps *caps, int *has_fma);

#endif
