/* What this kernel offers to confine a worker with. Asked at run time: versions of kernels say nothing of it. */
#ifndef PIPECTL_RUNTIME_IPC_CONFINE_H
#define PIPECTL_RUNTIME_IPC_CONFINE_H

#include <stddef.h>
#include <stdint.h>

/* Below this version a rename between folders is always refused, and drivers' caches need those. */
#define PCTL_LANDLOCK_ABI_MIN 2u

typedef struct pctl_confine_facts {
	uint32_t landlock_abi; /* 0: there is none */
	uint32_t seccomp;      /* filters can be installed */
	uint32_t
		supervised; /* they can hand what is not listed to a supervisor, which answers and tells of it */
	uint32_t namespaces; /* PCTL_NS_* that a worker of this user gets */
} pctl_confine_facts;

/* Parts of a confinement that a test can take away. */
enum {
	PCTL_CONFINE_LANDLOCK = 1,
	PCTL_CONFINE_SECCOMP = 2,
	PCTL_CONFINE_PROCESSES = 4,
	PCTL_CONFINE_SUPERVISOR = 8 /* filters that ask one */
};

/* Namespaces of a worker's own. */
enum {
	PCTL_NS_USER = 1,
	PCTL_NS_PID = 2,
	PCTL_NS_MOUNT = 4,
	PCTL_NS_NET = 8,
	PCTL_NS_IPC = 16,
	PCTL_NS_PROC =
		32, /* no namespace, but what makes those of processes whole: a /proc that shows only them */
	PCTL_NS_ALL = 63
};

/* Without the namespaces, which take a process to find out. */
void pctl_confine_ask(pctl_confine_facts *out);
/* With them; asked once in a process. */
void pctl_confine_ask_all(pctl_confine_facts *out);
/* "a PID namespace, .." of those that are missing in `got`, NULL when none is. */
const char *pctl_confine_missing(uint32_t got, char *text, size_t n);

/*
 * Give the calling process, which has one thread, namespaces of its own: its next child is the first process of the new PID
 * namespace. All of them or, where that is refused or asked for, that of the user alone, or none; PCTL_NS_* without PROC.
 */
uint32_t pctl_confine_part(int only_user);
/* In that child: a /proc of the new PID namespace. 1 on success. */
int pctl_confine_mount_proc(void);

/* NULL when a worker can be confined in full, else what the kernel lacks. */
const char *pctl_confine_lack(const pctl_confine_facts *facts);

/* What a worker and all it starts may use together; 0: no limit. Its supervisor looks twenty times a second. */
typedef struct pctl_worker_limits {
	uint64_t memory; /* bytes in memory and swap */
	uint64_t file;	 /* bytes of one file */
	uint32_t tasks;	 /* processes and threads */
	uint32_t processes;
	uint32_t files;	       /* descriptors open in one process */
	uint32_t folder_files; /* files and folders in its own folder, whoever made them */
	uint64_t folder;       /* bytes of those */
} pctl_worker_limits;

/* Exit statuses that no plugin's process can have: its own of this number is told as the one below. */
enum {
	PCTL_WORKER_OVER_MEMORY = 231,
	PCTL_WORKER_OVER_TASKS = 232,
	PCTL_WORKER_OVER_PROCESSES = 233,
	PCTL_WORKER_OVER_FOLDER = 234,
	PCTL_WORKER_OVER_FOLDER_FILES = 235,
	PCTL_WORKER_OVER_FOLDER_HIDDEN = 236,
	PCTL_WORKER_OVER_LAST = PCTL_WORKER_OVER_FOLDER_HIDDEN
};
/* 1: the wait status is that of a worker whose own folder holds more than it may, or what cannot be looked into. */
int pctl_confine_over_folder(int status);
/* How a worker that ended with wait status `status` broke its limits, into text; 0: it did not. */
int pctl_confine_over(const pctl_worker_limits *limits, int status, char *text, size_t n);

/* System calls that the filter of a worker has refused: written by its supervisor alone into a page that the host made and
 * that no process of the plugin has. */
#define PCTL_REFUSED_MAX 32u
#define PCTL_REFUSED_NAME 28u
typedef struct pctl_refused {
	uint32_t n; /* at most PCTL_REFUSED_MAX; further ones are not kept */
	uint32_t reserved;
	struct {
		char name[PCTL_REFUSED_NAME];
		uint32_t times;
	} calls[PCTL_REFUSED_MAX];
} pctl_refused;
/* The page as the host's descriptor to hand over and its own view, read-only; 0: errno. */
int pctl_refused_create(int *fd, const pctl_refused **out);
void pctl_refused_drop(const pctl_refused *page);
/* How many were refused; 0 for NULL. */
uint32_t pctl_refused_count(const pctl_refused *page);
/* "ptrace, setsid" of those from number `first` on, into text; NULL: there are none. */
const char *pctl_refused_words(const pctl_refused *page, uint32_t first, char *text, size_t n);

/* What a worker may reach besides the system's programs, libraries and device nodes. */
typedef struct pctl_confinement {
	uint32_t on; /* 0: nothing is forbidden */
	uint32_t n_read;
	const char *const *
		read; /* further files and folders to read; those that are not there are passed over */
	const char *write; /* the only folder to write into, or NULL */
	uint32_t sets;	   /* PCTL_CALLS_* of calls.h besides BASE */
	uint32_t n_calls, n_programs;
	const char *const *calls;    /* further system calls, by name */
	const char *const *programs; /* files that it may execute */
	uint32_t without;	     /* PCTL_CONFINE_*: as on a kernel that lacks them, for tests */
} pctl_confinement;

#endif
