/* The supervisor's answers to calls that the filter does not allow (filter.c). One more process or thread is let go on while
 * there are fewer than the limits say, so that the limit is never passed, not even for a moment; anything else is refused and
 * noted for the host. A call that goes on is made with the very flags that were looked at: they lie in registers of a thread
 * that stands still, and what lies in memory is never judged. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/ipc/calls.h"
#include "runtime/ipc/launch.h"
#include "worker.h"

#define ROOM 512 /* bytes of the kernel's own structures, whatever they grow to */

void judge_begin(judge *j, const worker_args *a)
{
	struct seccomp_notif_sizes sizes = {0};
	pctl_confine_facts facts;
	int pair[2];
	void *page;

	memset(j, 0, sizeof(*j));
	j->a = a;
	j->fd = j->to = -1;
	page = mmap(NULL, sizeof(*j->refused), PROT_READ | PROT_WRITE, MAP_SHARED,
		    PCTL_LAUNCH_REFUSED_FD, 0);
	close(PCTL_LAUNCH_REFUSED_FD);
	if (page == MAP_FAILED)
		return;
	j->refused = page;
	pctl_confine_ask(&facts);
	if (!a->confine || a->without & (PCTL_CONFINE_SECCOMP | PCTL_CONFINE_SUPERVISOR) ||
	    !facts.supervised || syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) < 0 ||
	    sizes.seccomp_notif > ROOM || sizes.seccomp_notif_resp > ROOM ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	j->fd = pair[0];
	j->to = pair[1];
}

void judge_leave(judge *j)
{
	if (j->refused)
		munmap(j->refused, sizeof(*j->refused));
	if (j->fd >= 0)
		close(j->fd);
	j->refused = NULL;
	j->fd = -1;
}

/* The descriptor that notifications come from, in place of the socket that brings it. */
static int take_listener(judge *j)
{
	char byte;
	struct iovec iov = {&byte, 1};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	const ssize_t n = recvmsg(j->fd, &m, MSG_CMSG_CLOEXEC);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;

	close(j->fd);
	j->fd = -1;
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return 0;
	memcpy(&j->fd, CMSG_DATA(c), sizeof(int));
	j->is_listening = 1;
	return 1;
}

static void note(const judge *j, int number)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number);
	pctl_refused *r = j->refused;
	char text[PCTL_REFUSED_NAME];
	uint32_t i;

	if (name)
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "number %d", number);
	free(name);
	for (i = 0; i < r->n && strcmp(r->calls[i].name, text) != 0; i++)
		;
	if (i == PCTL_REFUSED_MAX)
		return;
	memcpy(r->calls[i].name, text, sizeof(text));
	r->calls[i].times += r->calls[i].times < UINT32_MAX;
	if (i == r->n)
		__atomic_store_n(&r->n, i + 1, __ATOMIC_RELEASE);
}

/* ---- one more ----------------------------------------------------------------------------- */

static int is_clone(int number)
{
#ifdef SYS_fork
	if (number == SYS_fork || number == SYS_vfork)
		return 1;
#endif
	return number == SYS_clone;
}

/* Has the thread that was let go on come back from it? What cannot be seen counts as not. */
static int has_come_back(uint32_t tid)
{
	char path[48], text[64], *end;
	ssize_t n;
	long number;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/syscall", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT || errno == ESRCH;
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0) {
		number = errno;
		close(fd);
		return number == ESRCH;
	}
	close(fd);
	text[n] = '\0';
	number = strtol(text, &end, 10);
	/* "running": on its way in or out. */
	return end != text && !is_clone((int)number);
}

static void forget(judge *j, uint32_t i)
{
	j->under_way[i] = j->under_way[--j->n_under_way];
}

static void forget_thread(judge *j, uint32_t tid)
{
	for (uint32_t i = 0; i < j->n_under_way; i++)
		if (j->under_way[i].tid == tid) {
			forget(j, i);
			return;
		}
}

/* What there is at most: those seen, and those that may be there in a moment. Who is seen to have come back before the others
 * are counted is among them. */
static void count_anew(judge *j)
{
	uint32_t i, processes = 0, tasks;

	for (i = 0; i < j->n_under_way;) {
		if (has_come_back(j->under_way[i].tid))
			forget(j, i);
		else
			processes += j->under_way[i++].is_process;
	}
	tasks = j->n_under_way;
	worker_count(&j->a->limits, j->whole, &j->processes, &j->tasks);
	j->processes += processes;
	j->tasks += tasks;
}

static int is_over(const judge *j, int is_process)
{
	const pctl_worker_limits *l = &j->a->limits;

	if (is_process && l->processes && j->processes >= l->processes)
		return PCTL_WORKER_OVER_PROCESSES;
	return l->tasks && j->tasks >= l->tasks ? PCTL_WORKER_OVER_TASKS : 0;
}

/* 0 when there may be one more, else the limit that it would pass. */
static int one_more(judge *j, uint32_t tid, int is_process)
{
	int over;

	if (!j->a->limits.tasks && !j->a->limits.processes)
		return 0;
	/* It asks again, so it has come back. */
	forget_thread(j, tid);
	if (!j->is_counted || is_over(j, is_process) || j->n_under_way == JUDGE_UNDER_WAY_MAX) {
		count_anew(j);
		j->is_counted = 1;
	}
	over = is_over(j, is_process);
	if (!over && j->n_under_way == JUDGE_UNDER_WAY_MAX)
		over = PCTL_WORKER_OVER_TASKS;
	if (over)
		return over;
	j->under_way[j->n_under_way].tid = tid;
	j->under_way[j->n_under_way++].is_process = (uint32_t)is_process;
	j->tasks++;
	j->processes += (uint32_t)is_process;
	return 0;
}

/* ---- answers ------------------------------------------------------------------------------ */

static int may_clone(const judge *j, const struct seccomp_data *d, int *is_process)
{
	const uint64_t apart = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			       CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;
	const uint64_t flags = d->nr == SYS_clone ? d->args[0] : 0;

	*is_process = !(flags & CLONE_THREAD);
	return !(flags & apart) && (!*is_process || worker_sets(j->a) & PCTL_CALLS_PROCESSES);
}

int judge_answer(judge *j)
{
	union {
		struct seccomp_notif n;
		char room[ROOM];
	} in;
	union {
		struct seccomp_notif_resp r;
		char room[ROOM];
	} out;
	int over, is_process;

	if (!j->is_listening) {
		take_listener(j);
		return 0;
	}
	memset(&in, 0, sizeof(in));
	memset(&out, 0, sizeof(out));
	if (ioctl(j->fd, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
		return 0;
	out.r.id = in.n.id;
	out.r.error = -EPERM;
	if (is_clone(in.n.data.nr) && may_clone(j, &in.n.data, &is_process)) {
		over = one_more(j, in.n.pid, is_process);
		if (over)
			return over;
		out.r.error = 0;
		out.r.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	} else {
		note(j, in.n.data.nr);
	}
	/* Who asked may be gone. */
	(void)ioctl(j->fd, SECCOMP_IOCTL_NOTIF_SEND, &out);
	return 0;
}
