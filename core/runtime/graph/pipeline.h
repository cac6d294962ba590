/* A pipeline as its file declares it: names, references and positions, nothing resolved yet. Made
 * by pctl_pipeline_read or put together in memory (`shader run`, `op run`); what it means is found
 * by check.h. */
#ifndef PIPECTL_RUNTIME_GRAPH_PIPELINE_H
#define PIPECTL_RUNTIME_GRAPH_PIPELINE_H

#include "foundation/base/vfs.h"
#include "foundation/conf/schema.h"
#include "runtime/graph/type.h"

#define PCTL_PIPELINE_SHADER_MAX (16u << 20) /* bytes of a shader file */
#define PCTL_PIPELINE_JOBS_MAX 16384u	     /* with groups opened up */

/* --set NAME=VALUE */
typedef struct pctl_setting {
	const char *name;
	const char *value;
} pctl_setting;

/* A value as written: a literal, or "$name" for a parameter. `text` is without quotes and without
 * '$'. */
typedef struct pctl_pipe_value {
	pctl_pos pos;
	const char *text;
	uint32_t is_param;
	uint32_t is_string; /* quoted in the file */
} pctl_pipe_value;

typedef struct pctl_pipe_param {
	const char *name;
	pctl_pos pos;
	pctl_pipe_value value;
} pctl_pipe_param;

/* set: of a tensor of a set, the set's name, and `tensor` its own there; `name` is "set/tensor" then, and `file` the set. Of those
 * whose type nothing declares all element types are allowed, in any shape. */
typedef struct pctl_pipe_input {
	const char *name;
	pctl_pos pos;
	pctl_type_pattern type;
	const char *file; /* relative to the pipeline's directory, or NULL */
	const char *cid;
	const char *set, *tensor;
	pctl_pos source_pos;
	uint32_t is_state, reserved; /* 1: zeros where nothing is given */
} pctl_pipe_input;

/* A set of tensors, of which each that is referred to is an input. */
typedef struct pctl_pipe_set {
	const char *name;
	pctl_pos pos;
	const char *file; /* relative to the pipeline's directory */
	pctl_pos file_pos;
	struct {
		const char *glob;
		pctl_type_pattern type;
	} * types;
	uint32_t n_types, n_used;
} pctl_pipe_set;

/* A value that one run leaves to the next: an input and, of the same name, an output. */
typedef struct pctl_pipe_state {
	const char *name;
	pctl_pos pos;
	uint32_t input, output; /* their numbers */
} pctl_pipe_state;

/* A reference: "$name" (an input of the pipeline; job NULL) or "job.port", as it is meant where groups are opened up. */
typedef struct pctl_pipe_ref {
	pctl_pos pos;
	const char *text;
	const char *job;
	const char *name;
} pctl_pipe_ref;

/* A port (or, in a shader job, a variable) and what feeds it. */
typedef struct pctl_pipe_feed {
	const char *port;
	pctl_pos pos;
	pctl_pipe_ref from;
} pctl_pipe_feed;

typedef struct pctl_pipe_named {
	const char *name;
	pctl_pos pos;
	pctl_pipe_value value;
} pctl_pipe_named;

/* An output variable of a shader job, or place of a vm job's machine, with its type. */
typedef struct pctl_pipe_result {
	const char *name;
	pctl_pos pos;
	pctl_pos type_pos;
	pctl_type_pattern type;
} pctl_pipe_result;

enum { PCTL_JOB_OP = 1, PCTL_JOB_SHADER = 2, PCTL_JOB_VM = 3 };

typedef struct pctl_pipe_job {
	const char *id;
	pctl_pos pos;
	uint32_t kind;
	const char *op;			   /* name without version */
	uint32_t version_min, version_max; /* 0, 0: any */
	pctl_pos op_pos;
	const char *
		shader; /* path relative to the pipeline's directory; of a vm job its machine's file */
	const char *shader_text; /* given in memory instead of a path, or NULL */
	const char *entry;
	pctl_pipe_value
		groups[3]; /* dispatch: numbers, parameters, or "dim", "dim/64" (rounded up) */
	uint32_t n_groups;
	pctl_pipe_feed *in;
	pctl_pipe_result *out;	/* shader and vm jobs */
	pctl_pipe_named *attr;	/* attributes of an op, overrides of a shader */
	pctl_pipe_value repeat; /* text NULL: once */
	pctl_pipe_feed *carry;	/* port: the input; from.name: the output */
	pctl_pipe_ref *after;
	const char *placement;
	pctl_pos placement_pos;
	uint32_t n_in, n_out, n_attr, n_carry, n_after;
	uint32_t is_of_group; /* 1: one of several that one text stands for; the id tells which */
} pctl_pipe_job;

typedef struct pctl_pipeline {
	const char *file;
	const char *directory;
	const pctl_vfs
		*vfs; /* what shaders, and data if it is closed, are read from; NULL: files */
	const char *name;
	const char *about;
	uint32_t max_class; /* PCTL_CLASS_* */
	uint32_t has_gas_limit;
	uint64_t gas_limit;
	pctl_pos class_pos, gas_pos;
	pctl_pipe_param *params;
	pctl_pipe_input *inputs;
	pctl_pipe_set *sets;
	pctl_pipe_state *states;
	pctl_pipe_job *jobs;	 /* groups are opened up */
	pctl_pipe_feed *outputs; /* port: the output's name; behind those declared the states */
	uint32_t n_params, n_inputs, n_jobs, n_outputs, n_sets, n_states;
	pctl_arena *arena;
} pctl_pipeline;

/* The keys of a pipeline file; the first is the group of the pipeline itself. */
const pctl_conf_schema *pctl_pipeline_schema(void);

/*
 * Read a file; every deviation from the format is reported at its place. Errors: PCTL_E_IO,
 * PCTL_E_INVALID; *out is NULL then.
 */
pctl_status pctl_pipeline_read(const char *path, const pctl_call *call, pctl_pipeline **out);
/* The same from a virtual file system, which outlives the pipeline (NULL: files), with parameters set: counts of groups may hang on
 * them. Whether they are the pipeline's is the business of the checks. */
pctl_status pctl_pipeline_read_set(const pctl_vfs *vfs, const char *name, const pctl_setting *sets,
				   uint32_t n_sets, const pctl_call *call, pctl_pipeline **out);
pctl_status pctl_pipeline_read_vfs(const pctl_vfs *vfs, const char *name, const pctl_call *call,
				   pctl_pipeline **out);
/* The same for n bytes that lie in memory; `name` stands in positions, and paths are relative to
 * its
 * directory. */
pctl_status pctl_pipeline_read_text(const char *name, const char *text, size_t n,
				    const pctl_call *call, pctl_pipeline **out);
/* An empty one, to be filled in memory; class approximate, no limit. NULL: no memory. */
pctl_pipeline *pctl_pipeline_create(const char *name);
void pctl_pipeline_destroy(pctl_pipeline *p);

/* Parse "name", "name@3" or "name@1..3" into an op and its version range; 1 on success. */
int pctl_op_name_parse(const char *text, pctl_arena *arena, const char **name, uint32_t *min,
		       uint32_t *max);

/* "integer", "strict", "approximate"; "?" for anything else. */
const char *pctl_class_name(uint32_t c);

#endif
