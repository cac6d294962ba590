/* What SPV_KHR_cooperative_matrix adds to SPIR-V, by the numbers of its registry (SPIRV-Headers, spirv.core.grammar.json), for
 * headers that are older than it. Names of our own, so that newer headers do not clash. */
#ifndef PCTL_VULKAN_SPIRV_COOPMAT_H
#define PCTL_VULKAN_SPIRV_COOPMAT_H

#define COOPMAT_EXTENSION "SPV_KHR_cooperative_matrix"
#define COOPMAT_CAPABILITY 6022u /* CooperativeMatrixKHR */

enum {
	COOPMAT_OP_TYPE = 4456,	  /* result; component type, scope, rows, columns, use: ids */
	COOPMAT_OP_LOAD = 4457,	  /* pointer, layout, stride: ids; memory operands */
	COOPMAT_OP_STORE = 4458,  /* pointer, object, layout, stride: ids; memory operands */
	COOPMAT_OP_MUL_ADD = 4459 /* A, B, C: ids; COOPMAT_SIGNED_* */
};
enum { COOPMAT_USE_A = 0, COOPMAT_USE_B = 1, COOPMAT_USE_ACCUMULATOR = 2 };
enum { COOPMAT_ROW_MAJOR = 0, COOPMAT_COLUMN_MAJOR = 1 };
/* Operands of MUL_ADD: matrices whose components are signed. Without SaturatingAccumulation (16) sums wrap. */
#define COOPMAT_SIGNED_A 1u
#define COOPMAT_SIGNED_B 2u
#define COOPMAT_SIGNED_C 4u
#define COOPMAT_SIGNED_RESULT 8u

#endif
