/* How questions to an op library and its answers travel: texts, types, questions, descriptions with rules, and recorded
 * plans. What comes from a worker is a claim: counts have limits, texts end, are UTF-8 and hold no control characters, types
 * have a rank that exists. Pointers that a get gives lie in what is read. */
#ifndef PIPECTL_RUNTIME_IPC_OPS_WIRE_H
#define PIPECTL_RUNTIME_IPC_OPS_WIRE_H

#include "foundation/base/arena.h"
#include "runtime/ipc/protocol.h"
#include "pipectl/oplib.h"

#define PCTL_OPS_MAX 4096u
#define PCTL_OPS_ATTRS_MAX 64u
#define PCTL_OPS_ROWS_MAX 65536u	/* of a table: laws, examples, bindings, overrides */
#define PCTL_OPS_PLAN_BYTES (64u << 20) /* of one recorded plan */
#define PCTL_OPS_DTYPES 15u
#define PCTL_OPS_TENSORS_MAX 1024u /* of one case of a law */

/* Every element type there is, for asking about all of them. */
extern const uint32_t pctl_ops_dtypes[PCTL_OPS_DTYPES];

/* A text of any length, or NULL. */
void pctl_ops_put_text(pctl_ipc_out *o, const char *text);
const char *pctl_ops_get_text(pctl_ipc_in *in);
/* The same from a worker: fails for what no terminal and no reader should see. */
const char *pctl_ops_get_words(pctl_ipc_in *in);
/* A count of at most `most`; 0 and a failure when it is more, or when what is left cannot hold as many words. */
uint32_t pctl_ops_get_count(pctl_ipc_in *in, uint32_t most);

void pctl_ops_put_type(pctl_ipc_out *o, const pctl_tensor_type *t);
int pctl_ops_get_type(pctl_ipc_in *in, pctl_tensor_type *out);

/* Attributes; get reads at most PCTL_OPS_ATTRS_MAX into out. */
void pctl_ops_put_attrs(pctl_ipc_out *o, const pctl_attr *a, uint32_t n);
uint32_t pctl_ops_get_attrs(pctl_ipc_in *in, pctl_attr *out);

/* A question, with the memory it points into. */
typedef struct pctl_ops_query {
	pctl_op_query q;
	pctl_tensor_type in[PCTL_PORTS_MAX];
	pctl_attr attr[PCTL_OPS_ATTRS_MAX], measured[PCTL_OPS_ATTRS_MAX];
} pctl_ops_query;
/* 0 when it is too large to travel. */
int pctl_ops_put_query(pctl_ipc_out *o, const pctl_op_query *q);
int pctl_ops_get_query(pctl_ipc_in *in, pctl_ops_query *out);

/* All that is known of one op. functions: by pctl_ops_dtypes, NULL where there is none. */
typedef struct pctl_ops_described {
	pctl_op_desc desc;
	pctl_op_rules rules;
	const char *functions[PCTL_OPS_DTYPES];
	pctl_op_problems problems; /* n is 0 where there are none */
	uint32_t has_law;	   /* whoever puts it; without, no law travels as judged */
	uint32_t reserved;
} pctl_ops_described;
void pctl_ops_put_described(pctl_ipc_out *o, const pctl_ops_described *d);
/* Tables go into the arena. 0: malformed, or no memory. */
int pctl_ops_get_described(pctl_ipc_in *in, pctl_arena *a, pctl_ops_described *out);

/* Commands of a recorded plan, in the order of the sink's slots. */
enum {
	PCTL_OPS_TEMP = 1,
	PCTL_OPS_PARAMS,
	PCTL_OPS_KERNEL,
	PCTL_OPS_FILL,
	PCTL_OPS_COPY,
	PCTL_OPS_OP,
	PCTL_OPS_ASSERT,
	PCTL_OPS_MEASURED,
	/* of a law, and of a problem */
	PCTL_OPS_LAW_TENSOR = 32,
	PCTL_OPS_LAW_USE,
	PCTL_OPS_LAW_EQUAL,
	PCTL_OPS_LAW_JUDGED,
	PCTL_OPS_LAW_AGAIN,
	PCTL_OPS_PROBLEM_INPUT = 48,
	PCTL_OPS_PROBLEM_ATTR,
	PCTL_OPS_PROBLEM_MEASURED,
	PCTL_OPS_PROBLEM_RIGID
};

/* A sink that records into `out`; numbers of buffers go on from next_buffer. */
typedef struct pctl_ops_recorder {
	pctl_ipc_out out;
	uint32_t n_commands, next_buffer;
} pctl_ops_recorder;
void pctl_ops_record(pctl_ops_recorder *r, pctl_plan_sink *sink);
/*
 * Put a recorded plan into a sink, in which it must get the numbers it was recorded with.
 * 1: done, or refused by the sink (*status). 0: it is malformed, some of it may have been put.
 */
int pctl_ops_replay(pctl_ipc_in *in, const pctl_plan_sink *sink, uint32_t next_buffer,
		    pctl_status *status);

/* ops_law.c: the same of laws, whose tensors are numbered on from next_buffer, and of problems. */
void pctl_ops_record_law(pctl_ops_recorder *r, pctl_law_sink *sink);
int pctl_ops_replay_law(pctl_ipc_in *in, const pctl_law_sink *sink, uint32_t next,
			pctl_status *status);
void pctl_ops_record_problem(pctl_ops_recorder *r, pctl_problem_sink *sink);
int pctl_ops_replay_problem(pctl_ipc_in *in, const pctl_problem_sink *sink, pctl_status *status);

#endif
