/* A pipeline file while it is read, shared by the pipeline*.c files. */
#ifndef PIPECTL_RUNTIME_GRAPH_PIPELINE_PRIVATE_H
#define PIPECTL_RUNTIME_GRAPH_PIPELINE_PRIVATE_H

#include "foundation/base/map.h"
#include "foundation/base/vec.h"
#include "runtime/graph/pipeline.h"
#include "runtime/graph/pipeline_once.h"

#define PCTL_PIPE_KINDS 3u
extern const char *const pctl_pipe_class_words[]; /* "integer", "strict", "approximate", NULL */

/*
 * Where a text of the file is read: in one turn of a group. The index of a state is one, too, without jobs.
 *
 * jobs     the group's own list: their ids are names here; NULL: none
 * prefix   what stands before an id of the group: "layers.3."
 * index    what counts turns, or NULL; number: the turn
 * carry    the names that go round, and `carried` what each is in this turn: a reference, absolute
 */
typedef struct pctl_pipe_turn {
	const struct pctl_pipe_turn *outer;
	const pctl_conf_value *jobs, *carry;
	const char *prefix, *index;
	const char *const *carried;
	uint64_t number;
} pctl_pipe_turn;

/*
 * sets     what is set in place of defaults, for the counts of groups
 * once     where it is said in which turn: whoever changes `turn` does it by pctl_pipe_enter
 * turn     NULL: outside of groups
 * carried  "layers.x", what it is behind the group: a reference
 * named    name of an input, its number and 1
 * turns    of all groups so far
 */
typedef struct pctl_pipe_reader {
	pctl_pipeline *p;
	const pctl_call *call; /* of `once` */
	pctl_pipe_once *once;
	pctl_status status;
	const pctl_setting *sets;
	uint32_t n_sets;
	uint32_t is_full; /* 1: there are more jobs than there may be, which was said */
	const pctl_pipe_turn *turn;
	pctl_map *carried, *named;
	PCTL_VEC(pctl_pipe_job) jobs;
	PCTL_VEC(pctl_pipe_input) inputs;
	PCTL_VEC(pctl_pipe_feed) outputs;
	PCTL_VEC(pctl_pipe_state) states;
	uint64_t turns;
	const char *file_from, *file; /* the name of a text that was copied last */
} pctl_pipe_reader;

/* From here on texts are read in this turn. */
void pctl_pipe_enter(pctl_pipe_reader *r, const pctl_pipe_turn *turn);
/* Keep the first error. */
void pctl_pipe_keep(pctl_pipe_reader *r, pctl_status status);
/* Into the pipeline's arena: as it stands; a table; a position. Lack of memory is kept. */
const char *pctl_pipe_dup(pctl_pipe_reader *r, const char *s);
void *pctl_pipe_table(pctl_pipe_reader *r, uint32_t n, size_t size);
pctl_pos pctl_pipe_place(pctl_pipe_reader *r, pctl_pos pos);
/* How many elements; NULL has none. */
uint32_t pctl_pipe_count(const pctl_conf_value *v);
/* A string of the file, with the numbers of turns in place of {i}; NULL for NULL. */
const char *pctl_pipe_text(pctl_pipe_reader *r, const pctl_conf_value *v);
pctl_pipe_value pctl_pipe_read_value(pctl_pipe_reader *r, const pctl_conf_value *v);
/* The number that a count is, its parameter set or not. 1; 0: refused (PC4011, PC4117). `what` names the group. */
int pctl_pipe_count_of(pctl_pipe_reader *r, const pctl_conf_value *v, const char *what,
		       uint64_t *out);
/* A type of one element type without an extent of 0 (PC4020, PC4021). */
void pctl_pipe_read_type(pctl_pipe_reader *r, const pctl_conf_value *v, pctl_type_pattern *out);

/* pipeline_job.c: a job, or with a `jobs` of its own a group of them, at the end of r->jobs. */
void pctl_pipe_read_entry(pctl_pipe_reader *r, const pctl_conf_value *v);
/* A reference as it is meant in the turn that it is read in; what a group hands on is left to pctl_pipe_resolve. */
pctl_pipe_ref pctl_pipe_read_ref(pctl_pipe_reader *r, const pctl_conf_value *v);
/* The same of its text alone, "layers.3.norm.y"; NULL: refused. */
const char *pctl_pipe_ref_text(pctl_pipe_reader *r, const pctl_conf_value *v);
/* "name" or "job.port" of such a text; 1, or 0: it is none. */
int pctl_pipe_ref_parse(pctl_pipe_reader *r, const char *text, pctl_pipe_ref *out);

/* pipeline_group.c: a group written out; all references to what groups hand on, once all is read. */
void pctl_pipe_read_group(pctl_pipe_reader *r, const pctl_conf_value *v);
void pctl_pipe_resolve(pctl_pipe_reader *r);
/* A job's id as it is meant here: of the innermost turn that has it. */
const char *pctl_pipe_job_name(pctl_pipe_reader *r, const char *id);

/* pipeline_inputs.c: inputs, sets of tensors, states; a reference to a tensor of a set makes it an input. */
void pctl_pipe_read_inputs(pctl_pipe_reader *r, const pctl_conf_value *v);
void pctl_pipe_read_states(pctl_pipe_reader *r, const pctl_conf_value *v);
void pctl_pipe_want_tensor(pctl_pipe_reader *r, const pctl_pipe_ref *ref);

#endif
