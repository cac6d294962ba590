/* The floating-point environment that strict arithmetic on the host needs: round to nearest even, subnormals kept, no traps. A program that
 * uses libpipectl, or a library that it loads (any that was linked with -ffast-math), may have set another for the thread. */
#ifndef PIPECTL_FLOAT_ENV_H
#define PIPECTL_FLOAT_ENV_H

#include <fenv.h>

/* The caller's environment goes to *saved, and threads that begin before it is back inherit the strict one. */
static inline void pctl_float_env_enter(fenv_t *saved)
{
	fegetenv(saved);
	fesetenv(FE_DFL_ENV);
#if defined(__SSE2__)
	/* C says nothing of flushing; bits 15 and 6 of MXCSR would do it. */
	__builtin_ia32_ldmxcsr(0x1f80);
#endif
}

static inline void pctl_float_env_leave(const fenv_t *saved)
{
	fesetenv(saved);
}

/* A declaration: the environment is strict from here to the end of the block. */
#define PCTL_FLOAT_ENV(saved)                                        \
	fenv_t saved __attribute__((cleanup(pctl_float_env_leave))); \
	pctl_float_env_enter(&saved)

#endif
