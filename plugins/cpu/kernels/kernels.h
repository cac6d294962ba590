/* Lane kernels: one tight loop over lanes for each (operation, scalar type, operand form). They
 * know arrays of lanes and nothing of programs, masks or memory. The same source is compiled once
 * for the baseline and once for wider vectors; both give the same bits. Floats are their bits: f64 two words, f32 a
 * word, f16 and bf16 a word below 0x10000. Their kernels round as pipectl/float_env.h says. */
#ifndef PCTL_CPU_KERNELS_H
#define PCTL_CPU_KERNELS_H

#include "pipectl/program.h"

/* Rows of the table of elementwise kernels: opcodes below 0x60, the strict ones, MUL_HIGH. Its last
 * row stays empty; every other opcode has that one. */
#define PCTL_CPU_ROW_STRICT 0x60
#define PCTL_CPU_ROW_MUL_HIGH 0xa0
#define PCTL_CPU_N_ROWS 0xa2
#define PCTL_CPU_ROW(op)                                                \
	((op) < PCTL_CPU_ROW_STRICT ? (op)                              \
	 : (op) >= PCTL_STRICT_FIRST && (op) < PCTL_STRICT_FIRST + 0x40 \
		 ? (op)-PCTL_STRICT_FIRST + PCTL_CPU_ROW_STRICT         \
	 : (op) == PCTL_OP_MUL_HIGH ? PCTL_CPU_ROW_MUL_HIGH             \
				    : PCTL_CPU_N_ROWS - 1)
#define PCTL_CPU_N_SCALARS 10 /* none, bool, i32, u32, i64, u64, f16, f32, bf16, f64 */
#define PCTL_CPU_N_CASTS 14   /* up to u16 */

/* How an element lies in byte memory; in a register 2-byte elements are words below 0x10000. */
enum { PCTL_CPU_MEM_4 = 0, PCTL_CPU_MEM_8 = 1, PCTL_CPU_MEM_2 = 2, PCTL_CPU_N_MEM = 3 };
static inline uint32_t pctl_cpu_mem_bytes(uint32_t mem)
{
	return mem == PCTL_CPU_MEM_2 ? 2 : 4u << mem;
}

/* Operand forms of binary kernels: V one element a lane, U one element for all lanes. */
enum { PCTL_CPU_VV = 0, PCTL_CPU_VU = 1, PCTL_CPU_UV = 2 };

/* d[i] = f(a[i], b[i], c[i], e[i]) for lo <= i < hi. d overlaps no source. bool is a u32 0 or 1. */
typedef void pctl_cpu_kernel(uint32_t lo, uint32_t hi, void *restrict d, const void *restrict a,
			     const void *restrict b, const void *restrict c,
			     const void *restrict e);

typedef struct pctl_cpu_kernels {
	const char *name;
	pctl_cpu_kernel *elem[PCTL_CPU_N_ROWS][PCTL_CPU_N_SCALARS][3];
	/* By source and target scalar; NULL where the bits stay as they are. */
	pctl_cpu_kernel *cast[PCTL_CPU_N_CASTS][PCTL_CPU_N_CASTS];
	/* FCONVERT by source and target scalar; NULL where there is no such conversion. */
	pctl_cpu_kernel *convert[PCTL_CPU_N_SCALARS][PCTL_CPU_N_SCALARS];
	pctl_cpu_kernel
		*select[2]; /* a = condition, b if true, c if false; [0] 4-byte, [1] 8-byte */
	pctl_cpu_kernel *splat[PCTL_CPU_N_MEM]; /* every lane gets a[0]; PCTL_CPU_MEM_* of a */
	pctl_cpu_kernel *copy[2];
	pctl_cpu_kernel *blend[2];   /* d[i] = b[i] ? a[i] : d[i] */
	pctl_cpu_kernel *blend_u[2]; /* d[i] = b[i] ? a[0] : d[i] */
	pctl_cpu_kernel *join;	     /* u64 from low word a, high word b */
	pctl_cpu_kernel *low, *high; /* words of a u64 */
	pctl_cpu_kernel *join16;     /* the same between words and their halves */
	pctl_cpu_kernel *low16, *high16;
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
	void (*fetch[PCTL_CPU_N_MEM])(uint32_t lo, uint32_t hi, void *restrict d,
				      const uint8_t *base, const uint32_t *restrict index,
				      uint32_t stride);
	void (*place[PCTL_CPU_N_MEM])(uint32_t lo, uint32_t hi, const void *restrict a,
				      uint8_t *base, const uint32_t *restrict index,
				      uint32_t stride);
	/* d[i] = the element at base + off[i] + more, every lane being good. */
	void (*gather[PCTL_CPU_N_MEM])(uint32_t lo, uint32_t hi, void *restrict d,
				       const uint8_t *base, const uint64_t *restrict off,
				       uint64_t more);
	/* d[i] = element index[i] of a table of n, 0 outside; [1] has two words an element. */
	void (*lookup[2])(uint32_t lo, uint32_t hi, void *restrict d,
			  const uint32_t *restrict index, const uint32_t *restrict table,
			  uint32_t n);
} pctl_cpu_kernels;

const pctl_cpu_kernels *pctl_cpu_kernels_base(void);
/* The widest variant that this processor runs. */
const pctl_cpu_kernels *pctl_cpu_kernels_best(void);

#endif
