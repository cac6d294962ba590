/* Inside of the library: handles, and what every function of pipectl.h does before and after its work. */
#ifndef PIPECTL_API_PRIVATE_H
#define PIPECTL_API_PRIVATE_H

#include "foundation/diag/diag.h"
#include "host/document.h"
#include "host/run.h"
#include "pipectl/pipectl.h"

/* said: what the call under way has told; phase: what progress is told of; cancelled: its caller wants it no more. */
struct pipectl {
	pctl_installation host;
	pctl_arena *arena;
	pipectl_options asked;
	pctl_diag_list *said;
	pctl_call call;
	const char *phase, *device; /* device: of the phase, where one was named */
	uint32_t cancelled;
};

/* loaded_said: what loading told, which belongs to every document of the pipeline. sets: the parameters that it was loaded
 * with. users: the caller, and residents (resident.c), which may outlive its release. */
struct pipectl_pipeline {
	pipectl *p;
	pctl_loaded_pipeline loaded;
	const pctl_setting *sets;
	uint32_t n_sets, users;
	pctl_arena *arena;
	pctl_diag_list *loaded_said;
};

/*
 * A call begins: what was said is forgotten, but `before` (NULL: nothing), which is not told again. It ends: a failure that
 * nobody explained is explained. Between them &p->call is the call.
 */
pctl_status pipectl_begin(pipectl *p, const pctl_diag_list *before, const char *phase);
pctl_status pipectl_end(pipectl *p, pctl_status status);

/* A structure of the caller's into one of this version: what its head leaves out is zero, what it has beyond must be. NULL is
 * all zero. PC0011. */
pctl_status pipectl_take(const pctl_call *call, void *to, uint32_t size, const void *from,
			 const char *what);
/* A structure of this version into the caller's, as far as its head says. */
pctl_status pipectl_give(const pctl_call *call, void *to, const void *from, uint32_t size,
			 const char *what);
#define PIPECTL_TAKE(call, to, from) pipectl_take(call, to, (uint32_t)sizeof(*(to)), from, #from)
#define PIPECTL_GIVE(call, to, from) pipectl_give(call, to, from, (uint32_t)sizeof(*(from)), #to)

/* PC0011 in words. */
pctl_status pipectl_misused(const pctl_call *call, const char *what);

/* The request of a run; arrays in `arena`. Progress goes to the phase's. */
pctl_status pipectl_request(pipectl *p, const pipectl_run_options *o, pctl_arena *arena,
			    pctl_run_request *out);
pctl_status pipectl_request_inputs(pipectl *p, const pipectl_input *inputs, uint32_t n,
				   pctl_arena *arena, pctl_run_request *out);
/* Tell progress of the phase; ctx is the handle (pctl_progress_sink). */
void pipectl_tell(void *ctx, const pctl_progress *from);

/* A text that the caller releases; NULL is PC0002. */
pctl_status pipectl_document(pipectl *p, pctl_json *j, pctl_status status, char **out);

#endif
