/* Asking the kernel; see confine.h. */
#include "ipc/confine.h"

#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

void pctl_confine_ask(pctl_confine_facts *out)
{
	const uint32_t action = SECCOMP_RET_ERRNO;
	const long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	out->landlock_abi = abi > 0 ? (uint32_t)abi : 0;
	out->seccomp = syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

const char *pctl_confine_lack(const pctl_confine_facts *facts)
{
	if (facts->landlock_abi < PCTL_LANDLOCK_ABI_MIN)
		return facts->seccomp ? "landlock of version 2 or later"
				      : "landlock of version 2 or later, and seccomp filters";
	return facts->seccomp ? NULL : "seccomp filters";
}
