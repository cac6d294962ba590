/* A pipeline on its way to messages, as the files pipeline*.c share it. */
#ifndef PIPECTL_CHAIN_HOME_PIPELINE_PRIVATE_H
#define PIPECTL_CHAIN_HOME_PIPELINE_PRIVATE_H

#include "chain/home/pipeline.h"

/* A dimension that a size of data gave, an input in the store, a job that was taken in. */
typedef struct dimension {
	const char *name;
	uint64_t value;
} dimension;
typedef struct datum {
	const char *cid;
	uint64_t n_bytes;
} datum;

typedef struct lowering {
	pctl_installation *in;
	pctl_chain *c;
	const pctl_home_submit *o;
	const pctl_call *call;
	pctl_arena *arena;
	const pctl_pipeline *p;
	const pctl_vfs *view;	 /* the texts that were admitted */
	const char **param_text; /* by p->params */
	datum *inputs;		 /* by p->inputs */
	const char **ids;	 /* by p->jobs; NULL: not submitted yet */
	dimension *dims;
	uint32_t n_dims, reserved;
} lowering;

/* PC5827 at a place. */
pctl_status pctl_lowering_cannot(const lowering *l, const pctl_pos *pos, const char *what);

/* pipeline_number.c: the text of a parameter, NULL where there is none; how many workgroups; the size of an output. */
const char *pctl_lowering_param(const lowering *l, const char *name);
/* A dimension by its name, or a parameter that is a number; ctx is the lowering. */
int pctl_lowering_value(void *ctx, const char *name, uint64_t *out);
pctl_status pctl_lowering_groups(lowering *l, const pctl_pipe_value *v, uint32_t *out);
pctl_status pctl_lowering_output_bytes(lowering *l, const pctl_pipe_result *r, uint64_t *out);

/* pipeline_data.c: bytes into the store; parameters and inputs as they were given, and the dimensions that these have. */
pctl_status pctl_lowering_put(lowering *l, const void *data, uint64_t n, datum *out);
pctl_status pctl_lowering_set_params(lowering *l);
pctl_status pctl_lowering_open_inputs(lowering *l);

/* pipeline_feed.c: a variable by its name, or NULL; the inputs of a job, and what it comes after. */
const pctl_var *pctl_lowering_var(const pctl_program *p, const char *name);
pctl_status pctl_lowering_feed(lowering *l, const pctl_pipe_job *job, const pctl_program *program,
			       pctl_msg_execute *m);
pctl_status pctl_lowering_order(lowering *l, const pctl_pipe_job *job, pctl_msg_execute *m);

#endif
