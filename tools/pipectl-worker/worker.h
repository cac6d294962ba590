/* The two things a worker process can be: the server of one backend, or the probe of one plugin. */
#ifndef PIPECTL_WORKER_H
#define PIPECTL_WORKER_H

#include <sys/types.h>

#include "runtime/ipc/confine.h"

#define WORKER_READABLE_MAX 128

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
	uint32_t without;			   /* PCTL_CONFINE_* */
	pctl_worker_limits limits;
} worker_args;

/* Part into the supervisor, which never returns, and the process that goes on and loads the plugin: 1; 0 when that
 * cannot be. A confined plugin gets namespaces of its own where the kernel lets it have them. */
int worker_supervise(const worker_args *a);

/* Limits that the kernel keeps in each process; before any byte of a plugin runs. */
void worker_limit(const pctl_worker_limits *limits);

/* Whose processes are looked at: all that /proc shows but this one (whole), or this one's descendants. The exit status of
 * the limit that they break, 0: none. */
int worker_watch(const pctl_worker_limits *limits, int whole);

/* Give up what a plugin may not have; 0, having said why, when that failed. */
int worker_confine(const worker_args *a);

/* Exit statuses. */
int worker_probe(const worker_args *a);

#endif
