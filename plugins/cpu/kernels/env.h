/* The floating-point environment that strict kernels need: round to nearest even, subnormals kept, no
 * traps. Other libraries of the process may have set another, so it is set around every run. */
#ifndef PCTL_CPU_ENV_H
#define PCTL_CPU_ENV_H

#include <fenv.h>

static inline void pctl_cpu_env_enter(fenv_t *saved)
{
	fegetenv(saved);
	fesetenv(FE_DFL_ENV);
#if defined(__SSE2__)
	/* C says nothing of flushing; bits 15 and 6 of MXCSR would do it. */
	__builtin_ia32_ldmxcsr(0x1f80);
#endif
}

static inline void pctl_cpu_env_leave(const fenv_t *saved)
{
	fesetenv(saved);
}

#endif
