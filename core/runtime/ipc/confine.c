/* Asking the kernel, and namespaces; see confine.h. */
#include "runtime/ipc/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int has_action(uint32_t action)
{
	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

/* A supervisor can let a call go on: known together with this flag, which without a filter is an error of its own. */
static int can_continue(void)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
		       NULL) < 0 &&
	       errno == EFAULT;
}

void pctl_confine_ask(pctl_confine_facts *out)
{
	const long abi =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	memset(out, 0, sizeof(*out));
	out->landlock_abi = abi > 0 ? (uint32_t)abi : 0;
	out->seccomp = (uint32_t)has_action(SECCOMP_RET_ERRNO);
	out->supervised = out->seccomp && has_action(SECCOMP_RET_USER_NOTIF) && can_continue();
}

const char *pctl_confine_lack(const pctl_confine_facts *facts)
{
	if (facts->landlock_abi < PCTL_LANDLOCK_ABI_MIN)
		return facts->seccomp ? "landlock of version 2 or later"
				      : "landlock of version 2 or later, and seccomp filters";
	if (!facts->seccomp)
		return "seccomp filters";
	return facts->supervised ? NULL
				 : "seccomp filters that ask a supervisor: refused calls are not "
				   "reported, and processes are counted only now and then";
}

/* ---- namespaces --------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	const int fd = open(path, O_WRONLY | O_CLOEXEC);

	/* Who is not mapped is shown as another user, and is refused nothing more. */
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		errno = 0;
	if (fd >= 0)
		close(fd);
}

/* The user stays who he is. */
static void map_user(uid_t uid, gid_t gid)
{
	char text[64];

	write_file("/proc/self/setgroups", "deny");
	snprintf(text, sizeof(text), "%u %u 1", uid, uid);
	write_file("/proc/self/uid_map", text);
	snprintf(text, sizeof(text), "%u %u 1", gid, gid);
	write_file("/proc/self/gid_map", text);
}

uint32_t pctl_confine_part(int only_user)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	const int rest = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC;

	/* Even for the superuser one of users comes first: who is in it can look into no process outside, /proc or not. */
	if (!only_user && unshare(CLONE_NEWUSER | rest) == 0) {
		map_user(uid, gid);
		return PCTL_NS_ALL & ~(uint32_t)PCTL_NS_PROC;
	}
	if (!only_user && unshare(rest) == 0)
		return PCTL_NS_PID | PCTL_NS_MOUNT | PCTL_NS_NET | PCTL_NS_IPC;
	if (unshare(CLONE_NEWUSER) == 0) {
		map_user(uid, gid);
		return PCTL_NS_USER;
	}
	return 0;
}

int pctl_confine_mount_proc(void)
{
	/* What the host unmounts goes here, too; nothing goes the other way. */
	return mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

/* By doing it, in a child. */
static uint32_t ask_namespaces(void)
{
	const pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		const uint32_t got = pctl_confine_part(0);
		const pid_t first = got & PCTL_NS_PID ? fork() : -1;

		if (first == 0)
			_exit(!pctl_confine_mount_proc());
		if (first > 0 && waitpid(first, &status, 0) == first && status == 0)
			_exit((int)(got | PCTL_NS_PROC));
		_exit((int)got);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 0;
	return (uint32_t)WEXITSTATUS(status);
}

static uint32_t asked;
static pthread_once_t asked_once = PTHREAD_ONCE_INIT;

static void ask_once(void)
{
	asked = ask_namespaces();
}

void pctl_confine_ask_all(pctl_confine_facts *out)
{
	pctl_confine_ask(out);
	pthread_once(&asked_once, ask_once);
	out->namespaces = asked;
}

const char *pctl_confine_missing(uint32_t got, char *text, size_t n)
{
	static const char *const names[] = {"user",    "PID", "mount",
					    "network", "IPC", "a /proc of its own"};
	size_t at = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < sizeof(names) / sizeof(names[0]) && at < n; i++)
		if (!(got >> i & 1))
			at += (size_t)snprintf(text + at, n - at, "%s%s", at ? ", " : "", names[i]);
	return at ? text : NULL;
}

/* ---- limits ------------------------------------------------------------------------------- */

int pctl_confine_over(const pctl_worker_limits *limits, int status, char *text, size_t n)
{
	if (!WIFEXITED(status))
		return 0;
	switch (WEXITSTATUS(status)) {
	case PCTL_WORKER_OVER_MEMORY:
		snprintf(text, n, "it used more than %" PRIu64 " bytes of memory", limits->memory);
		return 1;
	case PCTL_WORKER_OVER_TASKS:
		snprintf(text, n, "it had more than %u processes and threads", limits->tasks);
		return 1;
	case PCTL_WORKER_OVER_PROCESSES:
		snprintf(text, n, "it had more than %u processes", limits->processes);
		return 1;
	case PCTL_WORKER_OVER_FOLDER:
		snprintf(text, n, "it kept more than %" PRIu64 " bytes in its own folder",
			 limits->folder);
		return 1;
	case PCTL_WORKER_OVER_FOLDER_FILES:
		snprintf(text, n, "it kept more than %u files in its own folder",
			 limits->folder_files);
		return 1;
	case PCTL_WORKER_OVER_FOLDER_HIDDEN:
		snprintf(text, n, "%s",
			 "its own folder has a folder that cannot be looked into, or lies deeper "
			 "than any is looked for");
		return 1;
	default:
		return 0;
	}
}

int pctl_confine_over_folder(int status)
{
	return WIFEXITED(status) && WEXITSTATUS(status) >= PCTL_WORKER_OVER_FOLDER &&
	       WEXITSTATUS(status) <= PCTL_WORKER_OVER_FOLDER_HIDDEN;
}

/* ---- refused calls ------------------------------------------------------------------------ */

int pctl_refused_create(int *fd, const pctl_refused **out)
{
	void *view;

	*fd = memfd_create("pipectl-refused", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd < 0)
		return 0;
	if (ftruncate(*fd, sizeof(**out)) < 0 ||
	    fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		goto fail;
	view = mmap(NULL, sizeof(**out), PROT_READ, MAP_SHARED, *fd, 0);
	if (view == MAP_FAILED)
		goto fail;
	*out = view;
	return 1;
fail:
	close(*fd);
	*fd = -1;
	return 0;
}

void pctl_refused_drop(const pctl_refused *page)
{
	if (page)
		munmap((void *)(uintptr_t)page, sizeof(*page));
}

uint32_t pctl_refused_count(const pctl_refused *page)
{
	const uint32_t n = page ? __atomic_load_n(&page->n, __ATOMIC_ACQUIRE) : 0;

	return n < PCTL_REFUSED_MAX ? n : PCTL_REFUSED_MAX;
}

const char *pctl_refused_words(const pctl_refused *page, uint32_t first, char *text, size_t n)
{
	const uint32_t all = pctl_refused_count(page);
	size_t at = 0;

	for (uint32_t i = first; i < all && at < n; i++)
		at += (size_t)snprintf(text + at, n - at, "%s%.*s", at ? ", " : "",
				       (int)PCTL_REFUSED_NAME - 1, page->calls[i].name);
	return at ? text : NULL;
}
