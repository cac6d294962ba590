/* Which wider variants of the lane kernels this build has. */
#ifndef PCTL_CPU_KERNELS_ISA_H
#define PCTL_CPU_KERNELS_ISA_H

#include "kernels/kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define PCTL_CPU_HAVE_AVX2 1
/* Only callable where the processor has AVX2 and FMA3. */
const pctl_cpu_kernels *pctl_cpu_kernels_avx2(void);
#else
#define PCTL_CPU_HAVE_AVX2 0
#endif

#endif
