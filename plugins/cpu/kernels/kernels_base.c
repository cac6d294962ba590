/* The lane kernels for the baseline instruction set, and the choice between the sets. */
#include "kernels/kernels_isa.h"

#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

extern const pctl_cpu_kernels pctl_cpu_kernels_table_base;
#define KERNELS_TABLE pctl_cpu_kernels_table_base
#define KERNELS_NAME "baseline"
#include "kernels/kernels.inc"

const pctl_cpu_kernels *pctl_cpu_kernels_base(void)
{
	return &pctl_cpu_kernels_table_base;
}

const pctl_cpu_kernels *pctl_cpu_kernels_best(void)
{
#if PCTL_CPU_HAVE_AVX2
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return pctl_cpu_kernels_avx2();
#endif
	return &pctl_cpu_kernels_table_base;
}
