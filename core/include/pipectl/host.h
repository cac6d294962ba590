/* What the host gives to whoever it calls: the per-call context with its diagnostic sink, and the
 * services handed to a plugin at open. There is no global state and no 'last error'. */
#ifndef PIPECTL_HOST_H
#define PIPECTL_HOST_H

#include "pipectl/abi.h"
#include "pipectl/status.h"

PCTL_C_BEGIN

#define PCTL_SEVERITY_NOTE 0u
#define PCTL_SEVERITY_WARNING 1u
#define PCTL_SEVERITY_ERROR 2u

/* A place in a text, 1-based; line 0 means 'no position'. end_column is one past the last byte
 * marked, on the same line; 0 or column + 1 marks a single byte. */
typedef struct pctl_pos {
	const char *file;
	uint32_t line;
	uint32_t column;
	uint32_t end_column;
	uint32_t reserved;
} pctl_pos;

/* A further place that explains a diagnostic ("declared here"). file may be NULL: then `message`
 * stands alone. */
typedef struct pctl_note {
	pctl_pos pos;
	const char *message;
} pctl_note;

/*
 * One diagnostic. All strings are UTF-8, NUL-terminated, owned by the emitter and valid only until
 * the sink returns; the sink copies what it keeps. NULL means absent for every string but message.
 *
 * code     number of the code in the table (4102 for PC4102)
 * subject  the thing spoken of: a job, a port, a plugin id, a device
 * hint     what to do about it; never a guess at a cause
 * plugin   id of the plugin that says so, filled in by the host when NULL
 */
typedef struct pctl_diag {
	pctl_head head;
	uint32_t code;
	uint32_t severity;
	pctl_pos pos;
	const char *subject;
	const char *message;
	const char *hint;
	const char *plugin;
	const pctl_note *notes;
	uint32_t n_notes;
	uint32_t reserved;
} pctl_diag;

/*
 * The context of one call. The callee keeps no pointer to it after returning.
 *
 * diag       receives diagnostics; may be called any number of times, only from the calling thread
 * cancelled  answers 1 when the caller no longer wants the result; long work asks at least every
 *            100 ms and then returns PCTL_E_CANCELLED
 * trace_id   ties what host and worker say together and, while a job runs, tells the backend which: PCTL_TRACE;
 *            0 is none. Never an input of a result: a backend may log it, or fail on purpose by it
 *            (one with the role synthetic, which alone is given it).
 */
typedef struct pctl_call {
	pctl_head head;
	void *ctx;
	void (*diag)(void *ctx, const pctl_diag *d);
	uint32_t (*cancelled)(void *ctx);
	uint64_t trace_id;
} pctl_call;

/*
 * The trace id of work for a job: 24 bits of the FNV-1a hash of its name, the round of its repeat (from 0), and 1 + the
 * number of the plan's step when a step runs alone, 0 for all of them. Names of jobs are the pipeline's. Round
 * PCTL_TRACE_ROUND_MAX is a check of the job's kernels before its work.
 */
#define PCTL_TRACE_ROUND_MAX 0xffffffu
#define PCTL_TRACE_JOB(id) ((uint32_t)((id) >> 40))
#define PCTL_TRACE_ROUND(id) ((uint32_t)((id) >> 16) & PCTL_TRACE_ROUND_MAX)
#define PCTL_TRACE_STEP(id) ((uint32_t)(id)&0xffffu)
uint32_t pctl_trace_job(const char *name); /* never 0 */
uint64_t pctl_trace(const char *job, uint32_t round, uint32_t step);

/*
 * Services of the host, given to a plugin's open and valid until its close returns.
 *
 * alloc        n_bytes of memory aligned for any object, or NULL; free with release [any thread]
 * log          level 0 debug, 1 info, 2 warning; never for errors: those are diagnostics [any
 *              thread]
 * get_service  further services by name ("pctl.cache-dir/1"), or NULL when the host has none such;
 *              the type behind a name is documented where the name is
 */
typedef struct pctl_host {
	pctl_head head;
	void *ctx;
	void *(*alloc)(void *ctx, uint64_t n_bytes);
	void (*release)(void *ctx, void *p);
	void (*log)(void *ctx, uint32_t level, const char *text);
	const void *(*get_service)(void *ctx, const char *name);
} pctl_host;

/* Service "pctl.cache-dir/1": `const char *`, a private writable directory for the plugin's caches
 * (compiled pipelines and the like), or absent when caching is off. Anything in it may vanish. */
#define PCTL_SERVICE_CACHE_DIR "pctl.cache-dir/1"
/* Service "pctl.debug/1": `const uint32_t *`, non-zero asks for the plugin's own validation (SPIR-V
 * validation, API checks); absent means 0. */
#define PCTL_SERVICE_DEBUG "pctl.debug/1"
/* Service "pctl.environment/1": `const char *const *`, NAME=VALUE pairs that end with NULL. What stands in the
 * environment of a worker for its backend alone; given to one that runs inside the host, whose environment is not its
 * own. Absent: the process's environment is meant. */
#define PCTL_SERVICE_ENVIRONMENT "pctl.environment/1"

/*
 * Helpers of the SDK's static library.
 *
 * pctl_refuse        emit one error with `code` at no position; returns the status of the code
 * pctl_no_memory     emit PC0002, "no memory for WHAT"; returns PCTL_E_NOMEM
 * pctl_refuse_at     the same as pctl_refuse at a position, with an optional hint (NULL)
 * pctl_warn_at       emit one warning
 * pctl_emit          emit a complete record; the status of its code when it is an error, else
 *                    PCTL_OK
 * pctl_is_cancelled  0 when the call has no test
 * `call` may be NULL: then nothing is emitted, the status is still returned.
 */
pctl_status pctl_refuse(const pctl_call *call, uint32_t code, const char *fmt, ...)
	PCTL_PRINTF(3, 4);
pctl_status pctl_no_memory(const pctl_call *call, const char *what);
pctl_status pctl_refuse_at(const pctl_call *call, uint32_t code, const pctl_pos *pos,
			   const char *hint, const char *fmt, ...) PCTL_PRINTF(5, 6);
void pctl_warn_at(const pctl_call *call, uint32_t code, const pctl_pos *pos, const char *hint,
		  const char *fmt, ...) PCTL_PRINTF(5, 6);
pctl_status pctl_emit(const pctl_call *call, const pctl_diag *d);
uint32_t pctl_is_cancelled(const pctl_call *call);

/* The code table. Constants are named PC<number>_<SLUG>, as in PC4102_EDGE_TYPE. */
enum {
#define PCTL_CODE(number, NAME, slug, status, summary, explanation) PC##number##_##NAME = number,
#include "pipectl/codes.def"
#undef PCTL_CODE
};

/* The status, slug, summary or explanation of a code; PCTL_E_INTERNAL or NULL when there is no
 * such code. */
pctl_status pctl_code_status(uint32_t code);
const char *pctl_code_slug(uint32_t code);
const char *pctl_code_summary(uint32_t code);
const char *pctl_code_explanation(uint32_t code);
/* The number of codes, and the i-th in ascending order (0 past the end). */
uint32_t pctl_code_count(void);
uint32_t pctl_code_at(uint32_t i);

/* The process exit code a status stands for (interface contract: 0 1 2 3 4 5 6 7 8 9 10 70 130). */
int pctl_status_exit(pctl_status status);
/* A short lower-case name of a status, for JSON. Never NULL. */
const char *pctl_status_name(pctl_status status);

PCTL_C_END

#endif
