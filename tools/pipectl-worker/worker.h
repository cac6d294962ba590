/* The two things a worker process can be: the server of one backend, or the probe of one plugin. */
#ifndef PIPECTL_WORKER_H
#define PIPECTL_WORKER_H

#include <sys/types.h>

#include "runtime/ipc/confine.h"

#define WORKER_READABLE_MAX 128
#define WORKER_CALLS_MAX 64
#define WORKER_PROGRAMS_MAX 32
#define JUDGE_UNDER_WAY_MAX 1024u
#define WORKER_NAMELESS_MAX 512u

typedef struct worker_args {
	const char *serve;	   /* library to serve */
	const char *probe;	   /* or to examine */
	const char *id;		   /* what the plugin must call itself */
	const char *cache_dir;	   /* or NULL */
	const char *interfaces[8]; /* of a probe; the first is the one that is checked in full */
	uint32_t n_interfaces;
	uint32_t debug;
	uint32_t confine; /* 1: take on the confinement */
	uint32_t n_readable;
	const char *readable[WORKER_READABLE_MAX]; /* further places to read */
	const char *writable;			   /* the only folder to write into */
	uint32_t sets;				   /* PCTL_CALLS_* of calls.h */
	uint32_t n_calls, n_programs;
	const char *calls[WORKER_CALLS_MAX];	   /* further system calls */
	const char *programs[WORKER_PROGRAMS_MAX]; /* files to execute */
	int to_supervisor; /* where the filter's listener goes; -1: nowhere */
	uint32_t without;  /* PCTL_CONFINE_* */
	pctl_worker_limits limits;
} worker_args;

/* Part into the supervisor, which never returns, and the process that goes on and loads the plugin: 1; 0 when that
 * cannot be. A confined plugin gets namespaces of its own where the kernel lets it have them. */
int worker_supervise(worker_args *a);

/* Limits that the kernel keeps in each process; before any byte of a plugin runs. */
void worker_limit(const pctl_worker_limits *limits);

/* What the worker has written, by its supervisor. */
typedef struct worker_written {
	int folder; /* its own; -1: it has none */
	uint32_t n;
	uint64_t device, bytes; /* of the folder */
	uint64_t next_ns;	/* when it is walked through again */
	/* Files that no name leads to, and somebody has open: on the folder's disk, in memory. */
	uint64_t nameless_bytes, memory;
	uint32_t n_seen;
	struct {
		uint64_t device, file;
	} seen[WORKER_NAMELESS_MAX];
} worker_written;

void worker_written_begin(worker_written *w, const worker_args *a);
/* Walk through the folder, where it is time: the exit status of the limit that is broken, 0: none. */
int worker_written_over(worker_written *w, const pctl_worker_limits *limits);
/* Nameless files are counted anew, process by process. */
void worker_nameless_begin(worker_written *w);
void worker_nameless_add(worker_written *w, const char *pid);

/* Whose processes are looked at: all that /proc shows but this one (whole), or this one's descendants. The exit status of
 * the limit that they break, or that what was written does, 0: none. */
int worker_usage_over(const pctl_worker_limits *limits, int whole, worker_written *written);

/* How many there are now, counted at least until one is over its limit. */
void worker_count(const pctl_worker_limits *limits, int whole, uint32_t *processes,
		  uint32_t *tasks);

/* What the supervisor knows of the calls that wait for its answer. */
typedef struct judge {
	const worker_args *a;
	pctl_refused *refused; /* the page that the host reads */
	int fd; /* a socket that brings the listener, then the listener; -1: there is none */
	int to; /* the other end of that socket */
	int is_listening;
	int whole; /* as in worker_usage_over */
	int is_counted;
	uint32_t processes, tasks; /* at most so many there are */
	uint32_t n_under_way;
	struct {
		uint32_t tid, is_process;
	} under_way[JUDGE_UNDER_WAY_MAX]; /* let go on, and not yet seen to have come back */
} judge;

void judge_begin(judge *j, const worker_args *a);
/* In the process that goes on, which has no part in it. */
void judge_leave(judge *j);
/* j->fd has something: answer it. The exit status of the limit that would be passed, 0: none. */
int judge_answer(judge *j);

/* All sets of calls that this worker has. */
uint32_t worker_sets(const worker_args *a);
/* Take the filter on; supervised: its listener goes to the socket `to`. 0: errno. */
int worker_filter(const worker_args *a, int supervised, int to);

/* Give up what a plugin may not have; 0, having said why, when that failed. */
int worker_confine(const worker_args *a);

/* Exit statuses. */
int worker_probe(const worker_args *a);

#endif
