/* A child process of the host: started with its own environment, its error output captured, killed
 * and reaped on every path. It knows nothing of what the child does. */
#ifndef PIPECTL_RUNTIME_IPC_PROCESS_H
#define PIPECTL_RUNTIME_IPC_PROCESS_H

#include <sys/types.h>

#include "foundation/diag/log.h"

#define PCTL_PROCESS_TAIL 2048u
#define PCTL_PROCESS_LINE 1024u /* a longer one is cut into several entries */

typedef struct pctl_process {
	pid_t pid;     /* 0: none, or reaped */
	int stderr_fd; /* read end, non-blocking; -1: none */
	int status;    /* of waitpid once reaped */
	uint32_t reaped;
	uint32_t killed; /* by pctl_process_kill */
	uint32_t n_tail;
	char tail[PCTL_PROCESS_TAIL]; /* the last error output */
	pctl_log *log;		      /* gets it line by line; NULL: nobody */
	char name[48];		      /* as which component */
	char line[PCTL_PROCESS_LINE]; /* what is there of the next */
	uint32_t n_line;
	pid_t logged_pid; /* which it has or had */
} pctl_process;

/* fds[i] becomes descriptor 3 + i of the child, which gets no other descriptor but 0 (nothing to
 * read), 1 and 2 (captured). The child leads a process group of its own, so that Ctrl-C on a
 * terminal reaches only the host and a kill reaches the compilers a driver may have started. */
typedef struct pctl_process_spec {
	const char *path;
	char *const *argv;
	char *const *envp; /* NULL: the host's */
	const int *fds;
	uint32_t n_fds;
	pctl_log *log;	  /* for its error output, and that it began and ended */
	const char *name; /* the component there; NULL: none */
} pctl_process_spec;

/* PC3102 when it cannot be started. */
pctl_status pctl_process_spawn(const pctl_process_spec *spec, const pctl_call *call,
			       pctl_process *out);
/* Read error output that is there into the tail. Never blocks. */
void pctl_process_drain(pctl_process *p);
/* Wait up to timeout_ms for the end; 1 when it has ended (and is reaped). */
int pctl_process_reap(pctl_process *p, uint32_t timeout_ms);
/* Kill its whole group and reap it. Afterwards nothing of it is left. */
void pctl_process_kill(pctl_process *p);
/* Close the descriptor; the process must be reaped. */
void pctl_process_drop(pctl_process *p);
/* What its group has used: milliseconds of processors, and of waiting for one that others had, bytes of memory in use, and
 * whether anything of it wants a processor now. All zero when that cannot be told. */
typedef struct pctl_process_usage {
	uint64_t cpu_ms, waited_ms, memory;
	uint32_t runnable;
	uint32_t reserved;
} pctl_process_usage;
void pctl_process_used(const pctl_process *p, pctl_process_usage *out);
/* "was killed by SIGSEGV; its last words: ..." or "exited with status 3; ...", into text of n
 * bytes. */
void pctl_process_cause(const pctl_process *p, char *text, size_t n);

#endif
