/* The lane kernels compiled for AVX2 and FMA3: the same source, the same bits, wider loops. Only
 * __builtin_fmaf becomes a fused instruction; contraction stays off. */
#include "kernels/kernels_isa.h"

#if PCTL_CPU_HAVE_AVX2
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#if defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif
#endif

extern const pctl_cpu_kernels pctl_cpu_kernels_table_avx2;
#define KERNELS_TABLE pctl_cpu_kernels_table_avx2
#define KERNELS_NAME "avx2"
#define KERNELS_FMA
#include "kernels/kernels.inc"

const pctl_cpu_kernels *pctl_cpu_kernels_avx2(void)
{
	return &pctl_cpu_kernels_table_avx2;
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
