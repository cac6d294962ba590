/* The table of system calls of confined workers (calls.def): what a kind of worker may call, and why. */
#ifndef PIPECTL_RUNTIME_IPC_CALLS_H
#define PIPECTL_RUNTIME_IPC_CALLS_H

#include <stdint.h>

/* Sets of calls; a worker has BASE and what its manifest brings. */
enum {
	PCTL_CALLS_BASE = 1,
	PCTL_CALLS_DRIVER = 2,
	PCTL_CALLS_PROCESSES = 4,
	PCTL_CALLS_PROGRAMS = 8 /* comes with the programs */
};

/* When a call of an allowed row is allowed; all arguments that are looked at have 32 bits, but for a path. */
enum {
	PCTL_CALL_ANY = 0,
	PCTL_CALL_SELF,		  /* the first argument is the worker's own process */
	PCTL_CALL_OF_NOBODY_ELSE, /* the first argument is 0 */
	PCTL_CALL_TERMINAL,	  /* the second is TCGETS */
	PCTL_CALL_NO_OWNER, /* the second names nobody who is sent a signal, and takes no lease */
	PCTL_CALL_OWN, /* the first is one of prctl's that touch the caller's names and memory alone */
	PCTL_CALL_NOT_TO_RUN,	   /* the second lacks MFD_EXEC; and the worker runs no programs */
	PCTL_CALL_NOT_TO_RUN_MODE, /* the second is a mode that lets nobody execute */
	PCTL_CALL_NO_PATH, /* the second is no path: it is about an open file; else refused in silence */
	PCTL_CALL_THREAD, /* a thread, in no new namespace; the supervisor counts */
	PCTL_CALL_PROCESS /* a process, in no new namespace; the supervisor counts */
};

enum { PCTL_CALL_ALLOWED = 0, PCTL_CALL_QUIET, PCTL_CALL_NEVER };

typedef struct pctl_call_row {
	const char *name;
	uint32_t verdict;   /* PCTL_CALL_ALLOWED, _QUIET, _NEVER */
	uint32_t set;	    /* PCTL_CALLS_*, of an allowed one */
	uint32_t condition; /* of an allowed one */
	int32_t error;	    /* of a quiet one */
	const char *who;    /* needs it, or asks for it; NULL: nobody may */
	const char *why;
} pctl_call_row;

const pctl_call_row *pctl_call_rows(uint32_t *n);
/* 1: a manifest may allow it by name; 0: it is listed as refused, under a condition, or as what starts processes. */
int pctl_call_can_be_allowed(const char *name);
/* PCTL_CALLS_* of the word that a manifest uses ("driver", "processes"); 0: none. */
uint32_t pctl_call_set(const char *word);

#endif
