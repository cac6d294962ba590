/* What this kernel offers to confine a worker with. Asked at run time: versions of kernels say nothing of it. */
#ifndef PIPECTL_IPC_CONFINE_H
#define PIPECTL_IPC_CONFINE_H

#include <stdint.h>

/* Below this version a rename between folders is always refused, and drivers' caches need those. */
#define PCTL_LANDLOCK_ABI_MIN 2u

typedef struct pctl_confine_facts {
	uint32_t landlock_abi; /* 0: there is none */
	uint32_t seccomp;      /* filters can be installed */
} pctl_confine_facts;

void pctl_confine_ask(pctl_confine_facts *out);

/* NULL when a worker can be confined in full, else what the kernel lacks. */
const char *pctl_confine_lack(const pctl_confine_facts *facts);

/* What a worker may reach besides the system's programs, libraries and device nodes. */
typedef struct pctl_confinement {
	uint32_t on; /* 0: nothing is forbidden */
	uint32_t n_read;
	const char *const *
		read; /* further files and folders to read; those that are not there are passed over */
	const char *write; /* the only folder to write into, or NULL */
} pctl_confinement;

#endif
