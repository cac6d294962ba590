/* The tests of core/compiler/legalize/softfloat: each form runs alone on a device, beside an oracle that shares no
 * code with it. Not here: which form a profile chooses (tests/unit/test_legal*). */
#ifndef PIPECTL_TESTS_FORMS_H
#define PIPECTL_TESTS_FORMS_H

#include "rig.h"

/* Every operand and result travels in 64 bits, whatever it is. */
typedef struct forms_triple {
	uint64_t x[3];
} forms_triple;

/* What operands are like; inputs.c. */
typedef enum forms_inputs {
	IN_F32,
	IN_F64,
	IN_F16,
	IN_BF16,
	IN_F16_EACH,  /* x[0] counts through all 65536 */
	IN_BF16_EACH, /* the same */
	IN_WORD,
	IN_NARROW,  /* f64 at and beside the ties and limits of the narrower formats */
	IN_ODD,	    /* |x[1]| <= ulp(x[0]) / 2 */
	IN_SUM,	    /* f64 without overflow */
	IN_ORDERED, /* the same with |x[0]| >= |x[1]| */
	IN_PRODUCT  /* f64 in the range of two_prod */
} forms_inputs;

/* The groups are what a device must have for a form to be right on it. */
typedef enum forms_group {
	G_INT,	  /* nothing */
	G_F64,	  /* f64 exact, fma aside */
	G_NORMAL, /* f32 add, mul, div exact on normal numbers */
	G_ROOT,	  /* f32 sqrt exact on normal numbers */
	G_FUSED,  /* f32 fma exact on normal numbers */
	G_EXACT	  /* f32 and f64 exact altogether */
} forms_group;

typedef uint64_t forms_oracle(const uint64_t x[3]);

/*
 * One form.
 *
 * signature  result, ":", operands: u u32, i i32, b bool, d vec2<u32>, n the same with any NaN, D f64, L f64
 *            with either zero
 */
typedef struct forms_case {
	forms_group group;
	const char *name;
	const char *signature;
	forms_inputs inputs;
	forms_oracle *oracle;
	forms_oracle *each; /* fast enough for all pairs of 16 bits, or NULL */
} forms_case;

extern const forms_case forms_cases[];
extern const uint32_t forms_n_cases;

/* inputs.c: case number `counter` of a stream. */
void forms_input(forms_inputs kind, uint64_t seed, uint64_t counter, forms_triple *out);

/*
 * kernel.c: one program with a switch over the forms whose group is in `groups`, or over `only`
 * alone. The form's number is its position in forms_cases.
 *
 * only     UINT32_MAX: all
 * planted  break rounding to even in f32_pack, so that the test can be seen to fail
 */
rig_program forms_program(uint32_t groups, uint32_t only, int planted);

/* strict.c: is there an operation of a program that this form stands for? */
int forms_is_strict(const forms_case *f);
/* A kernel with the strict operations, legalised for the device of `r` by a profile that proves what
 * `groups` says and nothing else. */
rig_program forms_strict_program(rig *r, uint32_t groups, uint32_t only);

/* oracles: the host's own IEEE arithmetic (oracle_host.c), MPFR (oracle_mpfr.c). */
#define FORMS_OF_WIDTH(n)                                                                        \
	forms_oracle oracle_add##n, oracle_sub##n, oracle_mul##n, oracle_div##n, oracle_sqrt##n; \
	forms_oracle oracle_fma##n, oracle_min##n, oracle_max##n, oracle_eq##n, oracle_lt##n;    \
	forms_oracle oracle_le##n, oracle_floor##n, oracle_ceil##n, oracle_trunc##n;             \
	forms_oracle oracle_round##n, oracle_to_i32_##n, oracle_to_u32_##n;                      \
	forms_oracle oracle_from_i32_##n, oracle_from_u32_##n
FORMS_OF_WIDTH(f32);
FORMS_OF_WIDTH(f64);
FORMS_OF_WIDTH(f16);
FORMS_OF_WIDTH(bf16);
forms_oracle oracle_f32_to_f64, oracle_f64_to_f32, oracle_sum_lost, oracle_product_lost;
forms_oracle oracle_f16_to_f32, oracle_bf16_to_f32, oracle_f32_to_f16, oracle_f32_to_bf16;
forms_oracle oracle_f16_to_bf16, oracle_bf16_to_f16, oracle_f16_to_f64, oracle_bf16_to_f64;
forms_oracle oracle_f64_to_f16, oracle_f64_to_bf16, oracle_odd;

/* oracle_each.c. Call once before any of them. */
void forms_each_open(void);
#define FORMS_EACH(t)                                                                 \
	forms_oracle each_add##t, each_sub##t, each_mul##t, each_div##t, each_min##t; \
	forms_oracle each_max##t, each_eq##t, each_lt##t, each_le##t
FORMS_EACH(f16);
FORMS_EACH(bf16);

#endif
