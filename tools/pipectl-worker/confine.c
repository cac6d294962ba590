/* Confinement of a worker: taken on before any byte of the plugin runs, kept by whatever it starts. First what it can
 * never gain (privileges), then what it can open and execute (landlock), then what it can ask of the kernel (filter.c). The
 * lists are of what drivers were seen to need; a driver that needs more is given it by `workers.readable` or a manifest's
 * `readable`, `calls` and `programs`, or runs without confinement by `workers.unconfined`. */
#include "runtime/ipc/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker.h"

/* Later than the kernel headers of Debian 12. */
#define FS_TRUNCATE (1ull << 14)
#define NET_TCP 3ull   /* bind, connect */
#define SCOPE_ALL 3ull /* abstract sockets, signals */

#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_RUN (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE)
#define FS_FILE                                                         \
	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_EXECUTE | FS_TRUNCATE)
#define FS_NODE (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE)
#define FS_ALL ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

/* The kernel's own structure, with the members that came later. */
typedef struct ruleset {
	uint64_t fs, net, scoped;
} ruleset;

typedef struct place {
	const char *path;
	uint64_t access;
} place;

/* What is not there is passed over. */
static const place places[] = {
	{"/usr", FS_READ},
	{"/lib", FS_READ},
	{"/lib64", FS_READ},
	{"/bin", FS_READ},
	{"/opt", FS_READ}, /* vendors' drivers */
	{"/etc/ld.so.cache", FS_READ},
	{"/etc/ld.so.preload", FS_READ},
	{"/etc/OpenCL", FS_READ},
	{"/etc/vulkan", FS_READ},
	{"/etc/glvnd", FS_READ},
	{"/etc/nvidia", FS_READ},
	{"/etc/drirc", FS_READ},
	{"/etc/alternatives", FS_READ},
	{"/etc/localtime", FS_READ},
	{"/proc/cpuinfo", FS_READ},
	{"/proc/meminfo", FS_READ},
	{"/proc/stat", FS_READ},
	{"/proc/version", FS_READ},
	{"/proc/devices", FS_READ},
	{"/proc/filesystems", FS_READ},
	{"/proc/driver", FS_READ},
	{"/proc/sys", FS_READ},
	{"/sys", FS_READ},
	{"/dev/null", FS_NODE},
	{"/dev/zero", FS_NODE},
	{"/dev/full", FS_NODE},
	{"/dev/random", FS_READ},
	{"/dev/urandom", FS_READ},
	{"/dev/dri", FS_NODE},
	{"/dev/kfd", FS_NODE},
	{"/dev/nvidiactl", FS_NODE},
	{"/dev/nvidia-uvm", FS_NODE},
	{"/dev/nvidia-uvm-tools", FS_NODE},
	{"/dev/nvidia-modeset", FS_NODE},
	{"/dev/nvidia-caps", FS_NODE},
};

static int allow(int rules, uint64_t handled, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr at = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
	struct stat st;
	int ok;

	if (at.parent_fd < 0)
		return 1;
	if (fstat(at.parent_fd, &st) == 0 && !S_ISDIR(st.st_mode))
		access &= FS_FILE;
	at.allowed_access = access & handled;
	ok = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &at, 0) == 0;
	/* That of this process's own folder in /proc stays open: the rule lasts as long as the folder is known. */
	if (strcmp(path, "/proc/self") != 0)
		close(at.parent_fd);
	return ok;
}

/* The folder `name` beside the one this program lies in: its own libraries, where it was carried somewhere. */
static int allow_beside(int rules, uint64_t handled, const char *name)
{
	char path[4096];
	const ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	char *cut;

	if (n <= 0)
		return 1;
	path[n] = '\0';
	cut = strrchr(path, '/');
	snprintf(cut, 32, "/../%s", name);
	return allow(rules, handled, path, FS_READ);
}

/* What the kernel starts for a program that needs libraries: the one that it started for this. */
static const char *interpreter(void)
{
	const ElfW(Phdr) *h = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const unsigned long n = getauxval(AT_PHNUM);
	const char *base = NULL;
	unsigned long i;

	for (i = 0; h && i < n; i++)
		if (h[i].p_type == PT_PHDR)
			base = (const char *)h - h[i].p_vaddr;
	for (i = 0; base && i < n; i++)
		if (h[i].p_type == PT_INTERP)
			return base + h[i].p_vaddr;
	return NULL;
}

static int confine_files(const worker_args *a, uint32_t abi)
{
	ruleset r = {.fs = FS_ALL | LANDLOCK_ACCESS_FS_REFER};
	char node[32];
	int rules, ok = 1, i;
	uint32_t k;

	r.fs |= abi >= 3 ? FS_TRUNCATE : 0;
	r.net = abi >= 4 ? NET_TCP : 0;
	r.scoped = abi >= 6 ? SCOPE_ALL : 0;
	rules = (int)syscall(SYS_landlock_create_ruleset, &r,
			     abi >= 6	? sizeof(r)
			     : abi >= 4 ? 2 * sizeof(uint64_t)
					: sizeof(uint64_t),
			     0);
	if (rules < 0)
		return 0;
	for (k = 0; k < sizeof(places) / sizeof(places[0]); k++)
		ok &= allow(rules, r.fs, places[k].path, places[k].access);
	for (i = 0; i < 16; i++) {
		snprintf(node, sizeof(node), "/dev/nvidia%d", i);
		ok &= allow(rules, r.fs, node, FS_NODE);
	}
	ok &= allow(rules, r.fs, "/proc/self", FS_NODE | FS_TRUNCATE);
	ok &= allow_beside(rules, r.fs, "lib");
	for (k = 0; k < a->n_readable; k++)
		ok &= allow(rules, r.fs, a->readable[k], FS_READ);
	for (k = 0; k < a->n_programs; k++)
		ok &= allow(rules, r.fs, a->programs[k], FS_RUN);
	if (a->n_programs && interpreter())
		ok &= allow(rules, r.fs, interpreter(), FS_RUN);
	if (a->writable)
		ok &= allow(rules, r.fs, a->writable, r.fs & ~(uint64_t)LANDLOCK_ACCESS_FS_EXECUTE);
	ok = ok && syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return ok;
}

static int drop_privileges(void)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
	int i;

	for (i = 0; i < 64; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	return syscall(SYS_capset, &head, none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

int worker_confine(const worker_args *a)
{
	pctl_confine_facts facts;
	const char *failed = NULL;

	if (!a->confine)
		return 1;
	pctl_confine_ask(&facts);
	if (a->writable && chdir(a->writable) < 0)
		failed = "the change of directory";
	if (!failed && !drop_privileges())
		failed = "the drop of privileges";
	if (a->without & PCTL_CONFINE_LANDLOCK)
		facts.landlock_abi = 0;
	if (a->without & PCTL_CONFINE_SECCOMP)
		facts.seccomp = 0;
	if (!failed && facts.landlock_abi >= PCTL_LANDLOCK_ABI_MIN &&
	    !confine_files(a, facts.landlock_abi))
		failed = "landlock";
	if (!failed && facts.seccomp && !worker_filter(a, a->to_supervisor >= 0, a->to_supervisor))
		failed = "seccomp";
	if (a->to_supervisor >= 0)
		close(a->to_supervisor);
	if (failed)
		fprintf(stderr,
			"confinement failed at %s: %s; workers.unconfined names plugins that do "
			"without\n",
			failed, strerror(errno));
	return !failed;
}
