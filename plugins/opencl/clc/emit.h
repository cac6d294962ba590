/* From a decoded program to OpenCL C 1.2 text. Pure: no device, no OpenCL header. The kernel made
 * is named `pctl_main`. Its arguments, for each uniform and storage variable in the order of
 * program.vars, are
 *   __global uchar *b, ulong offset, uint length, uint present
 * where length counts the elements of the variable's runtime array and present is 1 when the bytes
 * before that array (all bytes, where there is none) are bound. Then, where it has workgroup memory,
 *   __local ulong4 *
 * and with EMIT_SWITCH
 *   uint on
 * which is 0 when nothing is to be done. */
#ifndef PCTL_OPENCL_EMIT_H
#define PCTL_OPENCL_EMIT_H

#include "pipectl/program.h"
#include "clc/text.h"

#define EMIT_ARGS_PER_VAR 4u
#define EMIT_KERNEL_NAME "pctl_main"

/* What a kernel takes, found without emitting: for `supports`, and for the checks of a dispatch. */
typedef struct emit_facts {
	uint32_t n_bindings; /* uniform and storage variables; they are vars[0 .. n_bindings) */
	uint64_t workgroup_bytes; /* of the variables that the entry point reaches */
	uint64_t invocations;
	uint64_t table_bytes; /* of constant tables */
	uint32_t depth;	      /* deepest nesting of regions */
	uint32_t calls_wait;  /* main calls a function that holds a barrier */
	uint32_t bad_op;      /* an opcode this backend does not know, or 0 */
} emit_facts;

/* PCTL_E_NOMEM or PCTL_OK. */
pctl_status emit_scan(const pctl_program *p, const pctl_call *call, emit_facts *out);

/* Bytes of the fixed part of a variable's type, and the stride and offset of its runtime array
 * (stride 0: none). */
void emit_binding_layout(const pctl_program *p, uint32_t var, uint64_t *fixed_bytes,
			 uint64_t *stride);

/* Ways of writing. EMIT_NOFOLD_FLOATS: no float is a constant to the compiler (float.c). EMIT_LANE_LOOPS: loops hang on the
 * invocation (loop.c). EMIT_SWITCH: a dispatch can be told to do nothing, for drivers whose compiler works at the first. */
#define EMIT_NOFOLD_FLOATS 1u
#define EMIT_LANE_LOOPS 2u
#define EMIT_SWITCH 4u
/* Products of packed bytes by NVIDIA's instruction (dp4a of PTX, compute capability 6.1). */
#define EMIT_DP4A 8u
/* Subgroup operations by NVIDIA's warps (PTX, compute capability 7.0), and sums over whole ones by one instruction (8.0). */
#define EMIT_WARPS 16u
#define EMIT_REDUX 32u
#define EMIT_WARP_LANES 32u
/* Matrix tiles by its matrix units (8.0). */
#define EMIT_MMA 64u
/* Those of f64 by 16 rows at once (9.0). */
#define EMIT_MMA_WIDE 128u
/* Where conditions hold barriers, all invocations wait at one place (ticks.c). */
#define EMIT_MEET 256u
/* What fills up the last vector of a workgroup is told to leave (emit.c). */
#define EMIT_REST_LEAVES 512u
/* Products of packed bytes of all lanes by x86's vpdpbusd (AVX512_VNNI), where lanes are written (spmd/). */
#define EMIT_VNNI 1024u
/* A load of storage that is the same for all lanes and that nothing uses asks for its bytes ahead of time, where lanes are written (spmd/). */
#define EMIT_AHEAD 2048u

/* The program with what inline.c writes out, or as it came where there is nothing to write out, or it would be too large; all: every
 * function with a barrier (emit_program alone takes that), else what lanes want. It lives no longer than the program it was made of;
 * released with emit_inlined_free. */
typedef struct emit_inlined {
	pctl_program program;
	int owned; /* its functions, locals, instructions and words are its own */
} emit_inlined;
void emit_inline(const pctl_program *p, int all, emit_inlined *out);
void emit_inlined_free(emit_inlined *inlined);

/* Write the source of entry point 0. */
pctl_status emit_program(const pctl_program *p, const pctl_call *call, uint32_t flags, text *out);

#endif
