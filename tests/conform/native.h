/* Legalised float programs on a device: what the tests of the vulkan and the opencl backend share.
 * Expectations are the host's arithmetic on the bits, or written out, and hold where
 * the facts about a driver say that it is exact; each check runs on any device. */
#ifndef PIPECTL_TESTS_NATIVE_H
#define PIPECTL_TESTS_NATIVE_H

#include "rig.h"

/* native_ops.c: operations over many values, by type and vector width. */
void native_f32(rig *r);
void native_f64(rig *r); /* a device without f64 must refuse it, saying so */
void native_f16(rig *r);
void native_vendor(rig *r);

/* native_known.c: beside constants, f32, f64 and f16. */
void native_known(rig *r);

/* native_code.c: what a compiler may do to a program as a whole, and what the backend refuses. */
void native_contraction(rig *r);
void native_refusals(rig *r);

/* native_data.c: values, variables, tables and 16-bit memory. */
void native_constants(rig *r);
void native_values(rig *r);
void native_tables(rig *r);
void native_mul_high(rig *r);
void native_store16(rig *r);

/* ---- between the files: programs over words ---- */

/* One program under construction: binding 0 is read, binding 1 written, both array<u32>; one
 * invocation takes n_in words and leaves n_out. */
typedef struct words {
	pctl_builder *b;
	uint32_t u32, i32, boolean;
	uint32_t in, out; /* the variables */
	uint32_t n_in, n_out, taken, left;
	uint32_t row; /* of this invocation */
} words;

#define WORDS_GROUP 64u

/* Opens the builder; functions may be built until words_main. */
void words_begin(words *w);
void words_main(words *w, uint32_t n_in, uint32_t n_out);
uint32_t words_take(words *w); /* the next word of input */
void words_leave(words *w, uint32_t value);
rig_program words_end(words *w);
/* Run over `rows` rows, a multiple of WORDS_GROUP. Releases the program. */
void words_run(rig *r, rig_program p, const uint32_t *in, uint32_t n_in, uint32_t *out,
	       uint32_t n_out, uint32_t rows);

uint32_t native_inst(pctl_builder *b, uint16_t op, uint32_t type, uint32_t n, ...);
uint32_t native_u32(words *w, uint32_t value);
/* The answer of `supports`; when it is a refusal, the program must not build either. */
pctl_support native_asked(rig *r, rig_program p);

/* Drivers by what the facts say of them. */
int native_is(const rig *r, const char *name); /* in the device's or the driver's name */
int native_keeps_subnormals(const rig *r);
int native_fuses(const rig *r); /* f32 */

#endif
