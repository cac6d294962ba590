/* A pipeline resolved: every reference found, every op known, every parameter a value, jobs in an
 * order in which they can run. Made by the checks, all of which run as far as their prerequisites
 * allow, so that one run shows all errors. Sizes of data are not known here (plan and exec bind
 * them), names of dimensions are. */
#ifndef PIPECTL_RUNTIME_GRAPH_GRAPH_H
#define PIPECTL_RUNTIME_GRAPH_GRAPH_H

#include "runtime/graph/kernel.h"
#include "runtime/graph/pipeline.h"

/* Where data comes from: an input of the pipeline (job PCTL_FROM_INPUT, port = its index) or output
 * `port` of job `job`. */
#define PCTL_FROM_INPUT UINT32_MAX
#define PCTL_FROM_NOTHING (UINT32_MAX - 1u)
typedef struct pctl_source {
	uint32_t job;
	uint32_t port;
} pctl_source;

/* A variable of a shader job: bound to an input edge, to an output, or to both (its contents are
 * then copied). */
typedef struct pctl_shader_var {
	const char *name;
	uint32_t group, binding;
	uint32_t access;  /* PCTL_ACCESS_* */
	uint32_t in;	  /* number of the input whose contents it starts with, UINT32_MAX none */
	uint32_t out;	  /* number of the output it becomes, UINT32_MAX none */
	uint32_t scalars; /* what its memory is made of: 1 << PCTL_SCALAR_* of every leaf */
	uint32_t width;	  /* of the vectors that are its elements, 1 where they are none */
	uint32_t var;	  /* its index in the program of the node's unit */
} pctl_shader_var;

typedef struct pctl_graph_node {
	const pctl_pipe_job *job;
	pctl_op_ref op;	 /* op jobs */
	pctl_source *in; /* n_in of them: ports of the op, or `in` of a shader job, in order */
	pctl_attr *attr; /* of an op, in the order of its description */
	pctl_override_value *overrides; /* of a shader */
	pctl_shader_var *vars;
	const pctl_kernel_module *unit; /* of a shader, for the dispatch as far as it is known */
	const char *text;		/* of a shader; of a machine its own and its kernels' */
	uint64_t n_text;
	const struct pctl_vm_desc *vm;	  /* of a vm job */
	const struct pctl_vm_port *ports; /* its inputs, then its outputs */
	uint32_t n_in, n_out, n_attr, n_overrides, n_vars;
	uint32_t
		*carry; /* for each input, 1 + the output that feeds it in the next round, else 0 */
	uint64_t repeat;   /* 1 without `repeat` */
	uint32_t resolved; /* 1: everything above could be found */
	uint32_t reserved;
} pctl_graph_node;

typedef struct pctl_graph {
	const pctl_pipeline *pipeline;
	pctl_graph_node *nodes; /* one a job, same index */
	uint32_t *order;	/* n_nodes indices, every job after what it needs */
	uint32_t n_nodes;
	pctl_source *outputs;	 /* one an output of the pipeline */
	const char **param_text; /* value in force of each parameter */
	uint64_t *param_value;	 /* the same as a number, 0 for other text */
	pctl_kernels *kernels;	 /* the caller's */
	pctl_arena *arena;
} pctl_graph;

typedef struct pctl_graph_options {
	const pctl_setting *sets;
	uint32_t n_sets;
	uint32_t wgsl_flags;
	const pctl_op_source *ops;
	pctl_kernels *kernels;
} pctl_graph_options;

enum { PCTL_CHECK_NOT_RUN = 0, PCTL_CHECK_PASSED = 1, PCTL_CHECK_FAILED = 2 };

/* One registered check: its name, what it looks at, and what must have passed before it can run. */
typedef struct pctl_check_result {
	const char *name;
	const char *about;
	uint32_t outcome;
} pctl_check_result;

#define PCTL_CHECKS_MAX 16u

/*
 * Run all checks. results (PCTL_CHECKS_MAX of them, or NULL) gets the outcome of
 * each registered check, *n_results how many there are. *out is NULL
 * unless every check passed. The pipeline and the options' pointers outlive the graph.
 */
pctl_status pctl_graph_resolve(const pctl_pipeline *p, const pctl_graph_options *options,
			       const pctl_call *call, pctl_check_result *results,
			       uint32_t *n_results, pctl_graph **out);
void pctl_graph_destroy(pctl_graph *g);

/* The text in force of a parameter; NULL when there is none of that name. */
const char *pctl_graph_param(const pctl_graph *g, const char *name);
/* 1 and its value for a parameter that is a number: a pctl_type_from_bytes value_of, of a pctl_graph. */
int pctl_graph_number(void *graph, const char *name, uint64_t *out);

/* PC4024: a state has the type `is`, what it would be next the type `next`. */
pctl_status pctl_state_refuse(const pctl_pipeline *p, uint32_t state, const char *is,
			      const char *next, const pctl_call *call);

/* The name of an output port of a node. */
const char *pctl_node_out_name(const pctl_graph_node *n, uint32_t i);
/* Index of an output or input port by name, UINT32_MAX when there is none. */
uint32_t pctl_node_find_out(const pctl_graph_node *n, const char *name);
uint32_t pctl_node_find_in(const pctl_graph_node *n, const char *name);

#endif
