/* Lane kernels: one tight loop over lanes for each (operation, scalar type, operand form). They
 * know arrays of lanes and nothing of programs, masks or memory. The same source is compiled once
 * for the baseline and once for wider vectors; both give the same bits. */
#ifndef PCTL_CPU_KERNELS_H
#define PCTL_CPU_KERNELS_H

#include "pipectl/program.h"

#define PCTL_CPU_N_OPS 0x60  /* opcodes that can have lane kernels */
#define PCTL_CPU_N_SCALARS 6 /* none, bool, i32, u32, i64, u64; the floats append here */

/* Operand forms of binary kernels: V one element a lane, U one element for all lanes. */
enum { PCTL_CPU_VV = 0, PCTL_CPU_VU = 1, PCTL_CPU_UV = 2 };

/* d[i] = f(a[i], b[i], c[i], e[i]) for lo <= i < hi. d overlaps no source. bool is a u32 0 or 1. */
typedef void pctl_cpu_kernel(uint32_t lo, uint32_t hi, void *restrict d, const void *restrict a,
			     const void *restrict b, const void *restrict c,
			     const void *restrict e);

typedef struct pctl_cpu_kernels {
	const char *name;
	pctl_cpu_kernel *elem[PCTL_CPU_N_OPS][PCTL_CPU_N_SCALARS][3];
	/* By source and target scalar; NULL where the bits stay as they are. */
	pctl_cpu_kernel *cast[PCTL_CPU_N_SCALARS][PCTL_CPU_N_SCALARS];
	pctl_cpu_kernel
		*select[2]; /* a = condition, b if true, c if false; [0] 4-byte, [1] 8-byte */
	pctl_cpu_kernel *splat[2]; /* every lane gets a[0] */
	pctl_cpu_kernel *copy[2];
	pctl_cpu_kernel *blend[2];   /* d[i] = b[i] ? a[i] : d[i] */
	pctl_cpu_kernel *blend_u[2]; /* d[i] = b[i] ? a[0] : d[i] */
	pctl_cpu_kernel *join;	     /* u64 from low word a, high word b */
	pctl_cpu_kernel *low, *high; /* words of a u64 */
	pctl_cpu_kernel *truth;	     /* 1 where the word a is not 0 */
	pctl_cpu_kernel *mask_or;    /* d |= a */
	pctl_cpu_kernel *mask_equal; /* d = a & (b == c[0]) */
	/* cur and els part cur by cond; the number of lanes left in cur. Masks are 0 or 1 a lane.
	 */
	uint32_t (*mask_split)(uint32_t n, uint32_t *restrict cur, uint32_t *restrict els,
			       const uint32_t *restrict cond);
	void (*mask_swap)(uint32_t n, uint32_t *restrict a, uint32_t *restrict b);
	uint32_t (*mask_count)(uint32_t n, const uint32_t *mask);
	/* One step of a chain: off += index * stride, ok &= index < length; how many are ok. */
	uint32_t (*step)(uint32_t lo, uint32_t hi, uint64_t *restrict off, uint32_t *restrict ok,
			 const uint32_t *restrict index, uint32_t length, uint32_t stride);
	/* How many active lanes have index < length; *line is 0 when the indices of all lanes go up
	 * by one. */
	uint32_t (*scan)(uint32_t lo, uint32_t hi, const uint32_t *restrict mask,
			 const uint32_t *restrict index, uint32_t length, uint32_t *line);
	/* d[i] = the element at base + index[i] * stride, and the other way, in the order of lanes;
	 * every lane is good. */
	void (*fetch[2])(uint32_t lo, uint32_t hi, void *restrict d, const uint8_t *base,
			 const uint32_t *restrict index, uint32_t stride);
	void (*place[2])(uint32_t lo, uint32_t hi, const void *restrict a, uint8_t *base,
			 const uint32_t *restrict index, uint32_t stride);
	/* d[i] = the element at base + off[i] + more, every lane being good. */
	void (*gather[2])(uint32_t lo, uint32_t hi, void *restrict d, const uint8_t *base,
			  const uint64_t *restrict off, uint64_t more);
} pctl_cpu_kernels;

const pctl_cpu_kernels *pctl_cpu_kernels_base(void);
/* The widest variant that this processor runs. */
const pctl_cpu_kernels *pctl_cpu_kernels_best(void);

#endif
