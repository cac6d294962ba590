/* The filter of system calls (seccomp): made of the table in core/runtime/ipc/calls.def, for the sets of this worker. What is
 * not allowed goes to the supervisor, which refuses and notes it (judge.c); on a kernel that has no such filters it is refused
 * in silence. The program is made here and not by libseccomp, which takes longer for it than the rest of a worker's start. */
#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/ipc/calls.h"
#include "worker.h"

#define NUMBERS 1024u /* of system calls; higher ones are not listed */
#define PROGRAM 2048u
#define MFD_TO_RUN 0x10u /* MFD_EXEC, later than the headers of Debian 12 */
#define MODE_TO_RUN 0111u
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#define FLAG_KILLABLE \
	(1u << 5) /* a call that waits for the supervisor is interrupted by death alone */

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv)
#define MACHINE AUDIT_ARCH_RISCV64
#else
#error "which machine's numbers are these?"
#endif

#define LOAD(member) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, member))

typedef struct decision {
	uint32_t conditions; /* one bit each; bit PCTL_CALL_ANY: always */
	int32_t error;	     /* refused in silence */
} decision;

typedef struct program {
	struct sock_filter code[PROGRAM];
	uint32_t n;
	uint32_t otherwise; /* what becomes of a call that is not allowed */
} program;

static void put(program *p, struct sock_filter one)
{
	if (p->n < PROGRAM)
		p->code[p->n] = one;
	p->n++;
}

static void put_return(program *p, uint32_t what)
{
	put(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

/* The low 32 bits of an argument; machines with the high ones first have no filter (MACHINE). */
static void put_load(program *p, uint32_t arg)
{
	put(p,
	    (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					 (uint32_t)offsetof(struct seccomp_data, args) + 8 * arg));
}

/* Allow unless the argument is one of n. */
static void put_none_of(program *p, uint32_t arg, const uint32_t *values, uint32_t n)
{
	put_load(p, arg);
	for (uint32_t i = 0; i < n; i++) {
		put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1));
		put_return(p, p->otherwise);
	}
	put_return(p, SECCOMP_RET_ALLOW);
}

/* Allow when it is. */
static void put_one_of(program *p, uint32_t arg, const uint32_t *values, uint32_t n)
{
	put_load(p, arg);
	for (uint32_t i = 0; i < n; i++) {
		put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1));
		put_return(p, SECCOMP_RET_ALLOW);
	}
}

/* Of fcntl and of ioctl: by these any process of the same user is sent any signal, or SIGIO. */
static const uint32_t owners[] = {F_SETOWN, F_SETSIG,  F_SETOWN_EX, F_SETLEASE,
				  F_NOTIFY, FIOSETOWN, SIOCSPGRP};
/* Not PR_SET_DUMPABLE: what a process has open and mapped stays visible to its supervisor and to the host. */
static const uint32_t own_prctl[] = {PR_GET_DUMPABLE,	 PR_SET_NAME,	      PR_GET_NAME,
				     PR_GET_SECCOMP,	 PR_CAPBSET_READ,     PR_SET_TIMERSLACK,
				     PR_GET_TIMERSLACK,	 PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS,
				     PR_SET_THP_DISABLE, PR_GET_THP_DISABLE,  PR_SET_VMA};

#define N_OF(list) (sizeof(list) / sizeof((list)[0]))

/* Allow when the argument has `value` under `mask`. */
static void put_test(program *p, uint32_t arg, uint32_t mask, uint32_t value)
{
	put_load(p, arg);
	put(p, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, mask));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1));
	put_return(p, SECCOMP_RET_ALLOW);
}

/* Allow when a pointer is none; all 64 bits of it, since memory can be had at any address. */
static void put_no_pointer(program *p, uint32_t arg)
{
	const uint32_t at = (uint32_t)offsetof(struct seccomp_data, args) + 8 * arg;

	put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3));
	put(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at + 4));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1));
	put_return(p, SECCOMP_RET_ALLOW);
	put_return(p, SECCOMP_RET_ERRNO | EPERM);
}

static void put_condition(program *p, uint32_t condition)
{
	const uint32_t apart = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
			       CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

	switch (condition) {
	case PCTL_CALL_SELF:
		put_test(p, 0, ~0u, (uint32_t)getpid());
		break;
	case PCTL_CALL_OF_NOBODY_ELSE:
		put_test(p, 0, ~0u, 0);
		break;
	case PCTL_CALL_TERMINAL:
		put_test(p, 1, ~0u, TCGETS);
		break;
	case PCTL_CALL_NO_OWNER:
		put_none_of(p, 1, owners, N_OF(owners));
		break;
	case PCTL_CALL_OWN:
		put_one_of(p, 0, own_prctl, N_OF(own_prctl));
		break;
	case PCTL_CALL_NOT_TO_RUN:
		put_test(p, 1, MFD_TO_RUN, 0);
		break;
	case PCTL_CALL_NOT_TO_RUN_MODE:
		put_test(p, 1, MODE_TO_RUN, 0);
		break;
	case PCTL_CALL_NO_PATH:
		put_no_pointer(p, 1);
		break;
	case PCTL_CALL_THREAD:
		put_test(p, 0, apart | CLONE_THREAD, CLONE_THREAD);
		break;
	case PCTL_CALL_PROCESS:
		put_test(p, 0, apart, 0);
		break;
	default:
		break;
	}
}

/* The supervisor decides about whoever becomes one more; it sees every one. */
static int counts(uint32_t condition)
{
	return condition == PCTL_CALL_THREAD || condition == PCTL_CALL_PROCESS;
}

static void put_number(program *p, uint32_t number, const decision *d, int supervised)
{
	uint32_t at, i;

	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0));
	at = p->n - 1;
	for (i = 1; i < 32; i++)
		if (d->conditions >> i & 1 && !(supervised && counts(i)))
			put_condition(p, i);
	put_return(p, d->error ? SECCOMP_RET_ERRNO | (uint32_t)d->error : p->otherwise);
	if (at < PROGRAM)
		p->code[at].jf = (uint8_t)(p->n - at - 1);
}

/* Those from `first` to `last` are allowed whatever their arguments; all below were dealt with. */
static void put_range(program *p, uint32_t first, uint32_t last)
{
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, last, 3, 0));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, first, 0, 1));
	put_return(p, SECCOMP_RET_ALLOW);
	put_return(p, p->otherwise);
}

static void put_all(program *p, const decision *d, int supervised)
{
	uint32_t i, k;

	put(p, (struct sock_filter)LOAD(arch));
	put(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0));
	put_return(p, SECCOMP_RET_KILL_PROCESS);
	put(p, (struct sock_filter)LOAD(nr));
	for (i = 0; i < NUMBERS; i++)
		if (!(d[i].conditions & 1) && (d[i].conditions || d[i].error))
			put_number(p, i, &d[i], supervised);
	for (i = 0; i < NUMBERS; i = k + 1) {
		for (k = i; k < NUMBERS && d[k].conditions & 1; k++)
			;
		if (k > i)
			put_range(p, i, k - 1);
	}
	put_return(p, p->otherwise);
}

static void decide(const char *name, uint32_t condition, int32_t error, decision *d)
{
	const int number = seccomp_syscall_resolve_name(name);

	if (number < 0 || number >= (int)NUMBERS)
		return;
	d[number].conditions |= error ? 0 : 1u << condition;
	d[number].error = error;
}

/* The run-time of a sanitizer starts a process at the end, which looks into its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

uint32_t worker_sets(const worker_args *a)
{
	return PCTL_CALLS_BASE | a->sets |
	       (a->n_programs ? PCTL_CALLS_PROCESSES | PCTL_CALLS_PROGRAMS : 0) |
	       (SANITIZED ? PCTL_CALLS_PROCESSES : 0);
}

static void decide_all(const worker_args *a, decision *d)
{
	const uint32_t sets = worker_sets(a);
	const pctl_call_row *rows;
	uint32_t i, n;

	rows = pctl_call_rows(&n);
	for (i = 0; i < n; i++) {
		/* Who runs programs makes no files in memory: they could be run. */
		if (rows[i].condition == PCTL_CALL_NOT_TO_RUN && a->n_programs)
			continue;
		if (rows[i].verdict == PCTL_CALL_ALLOWED && rows[i].set & sets)
			decide(rows[i].name, rows[i].condition, 0, d);
		else if (rows[i].verdict == PCTL_CALL_QUIET)
			decide(rows[i].name, 0, rows[i].error, d);
	}
	for (i = 0; i < a->n_calls; i++)
		decide(a->calls[i], PCTL_CALL_ANY, 0, d);
	if (SANITIZED) {
		decide("ptrace", PCTL_CALL_ANY, 0, d);
		decide("prctl", PCTL_CALL_ANY, 0, d);
	}
}

/* The descriptor that notifications are read from goes to the supervisor, and from here. */
static int hand_over(int listener, int to)
{
	char byte = 0;
	struct iovec iov = {&byte, 1};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	ssize_t sent;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &listener, sizeof(int));
	sent = sendmsg(to, &m, MSG_NOSIGNAL);
	close(listener);
	return sent == 1;
}

int worker_filter(const worker_args *a, int supervised, int to)
{
	decision decisions[NUMBERS] = {{0, 0}};
	program p = {.otherwise = supervised ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ERRNO | EPERM};
	struct sock_fprog prog;
	long fd;

	decide_all(a, decisions);
	put_all(&p, decisions, supervised);
	if (p.n > PROGRAM) {
		errno = E2BIG;
		return 0;
	}
	prog = (struct sock_fprog){(unsigned short)p.n, p.code};
	if (!supervised)
		return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) == 0;
	fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		     SECCOMP_FILTER_FLAG_NEW_LISTENER | FLAG_KILLABLE, &prog);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			     &prog);
	return fd >= 0 && hand_over((int)fd, to);
}
