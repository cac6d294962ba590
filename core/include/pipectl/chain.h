/* The chain of an installation, by libpipectl; what pipectl.h says of threads, memory, errors and structures holds here, too.
 *
 * This is the consensus VM of the installation's home, for a client that submits jobs in batches and for one that audits
 * them: shaders and jobs are taken in, blocks end and are verified again. Messages mean what the tool's verbs `shader
 * upload`, `job`, `block` and `ledger` mean, and are refused with the same codes; questions about the graph are those of
 * `graph`. Left out, and the tool's alone, are parameters and votes, bonds and verdicts, aliases and deprecation, cancelling
 * jobs, links and provenance, contracts, epochs, histories of other homes, and nodes.
 *
 * Several handles and processes may have one chain open; one at a time writes, and a second one waits for 5 s (PC5703).
 * What a structure points to lives until the next call with the same chain or, of a list, as long as the list. */
#ifndef PIPECTL_CHAIN_H
#define PIPECTL_CHAIN_H

#include "pipectl/pipectl.h"

PCTL_C_BEGIN

/* An open chain, and a list of its jobs. */
typedef struct pipectl_chain pipectl_chain;
typedef struct pipectl_chain_jobs pipectl_chain_jobs;

/*
 * account     who sends the messages, 1 to 64 of [a-z0-9._-]; NULL: nobody, and what sends is PC0011
 * backends    devices that run jobs of blocks, in order of preference; n 0: the policy's order
 * verify_ppm  share of them that the reference runs again, in millionths; never less than the policy's
 */
typedef struct pipectl_chain_options {
	pctl_head head;
	const char *account;
	const char *const *backends;
	uint32_t n_backends, verify_ppm;
} pipectl_chain_options;

/*
 * Open it; a home without one gets one, with the parameters of its chain/params.cfg or else of the configuration. No
 * device is opened yet. options may be NULL. p is used by the chain as long as it is open.
 *
 * Errors: PC5710 (no name of an account), PC5723, PC5703, those of the files.
 */
PCTL_EXPORT pctl_status pipectl_chain_open(pipectl *p, const pipectl_chain_options *options,
					   pipectl_chain **out);
PCTL_EXPORT void pipectl_chain_close(pipectl_chain *c);

/* An account: what it can spend, what is set aside for its jobs that did not end yet, and its bond. */
typedef struct pipectl_account {
	pctl_head head;
	const char *name;
	uint64_t balance, reserved, bond;
} pipectl_account;

/* account NULL: the chain's own. PC5714: there is none. */
PCTL_EXPORT pctl_status pipectl_chain_balance(pipectl_chain *c, const char *account,
					      pipectl_account *out);
/* Make gas for an account, as `ledger credit`. PC5711 (0), PC5710. */
PCTL_EXPORT pctl_status pipectl_chain_credit(pipectl_chain *c, const char *account, uint64_t amount,
					     pipectl_account *out);

/*
 * A shader for the registry.
 *
 * text         n_bytes of WGSL
 * description  may be NULL; tags: in any order; implements: CID of the algorithm, or NULL
 */
typedef struct pipectl_chain_source {
	pctl_head head;
	const char *text;
	uint64_t n_bytes;
	const char *description, *implements;
	const char *const *tags;
	uint32_t n_tags;
	uint32_t reserved;
} pipectl_chain_source;

/* As it was registered, with its price: gas of a workgroup of the first entry point, and by how much its loops multiply. */
typedef struct pipectl_chain_shader {
	pctl_head head;
	const char *cid;
	uint64_t cost_per_workgroup, max_loop_iterations, workgroup_shared_bytes;
} pipectl_chain_shader;

/* Registered before: the same answer. Errors: what compiling it says, the rules (PC5808, ..). */
PCTL_EXPORT pctl_status pipectl_chain_upload(pipectl_chain *c, const pipectl_chain_source *source,
					     pipectl_chain_shader *out);

/* A buffer beside input and output: cid is a CID or "job:ID". */
typedef struct pipectl_binding {
	uint32_t group, binding;
	const char *cid;
} pipectl_binding;

/*
 * A job of one shader.
 *
 * shader        CID or alias; entry: its entry point, NULL for the only one
 * input         of group 0 binding 0: a CID, or "job:ID", what that job gives
 * uniform       of group 0 binding 1: the CID of its CBOR document; or the document itself, n_document bytes, which goes
 *               into the store; NULL: none
 * dispatch      workgroups; all three 0 is none, which is valid
 * gas_limit     at least 1
 * output_bytes  of group 1 binding 0, a multiple of 4
 * parent_clock  0: none
 * bindings, parents (must complete), after (must have ended), overrides  in any order
 */
typedef struct pipectl_chain_work {
	pctl_head head;
	const char *shader, *entry, *input, *uniform;
	const void *document;
	uint64_t n_document;
	uint32_t dispatch[3];
	uint32_t n_bindings;
	uint64_t gas_limit, output_bytes, parent_clock;
	const pipectl_binding *bindings;
	const char *const *parents, *const *after;
	const pipectl_setting *overrides;
	uint32_t n_parents, n_after, n_overrides;
	uint32_t reserved;
} pipectl_chain_work;

#define PIPECTL_JOB_PENDING 1u
#define PIPECTL_JOB_EXECUTING 2u /* a process runs it now */
#define PIPECTL_JOB_COMPLETE 3u
#define PIPECTL_JOB_FAILED 4u

/*
 * A job as it stands.
 *
 * id        64 hex digits; name: in the pipeline that was just submitted, else NULL
 * output    its CID, of one that is complete, else NULL; error: why it failed, else NULL
 * state     PIPECTL_JOB_*
 * position  in the queue of all jobs, from 1; height: of the block that took it in; clock: its logical time
 * gas       what running it costs at most, fixed when it was submitted, while its gas limit is set aside; gas_used: what was
 *           charged
 * ended     height of the block that ended it, 0: none did
 */
typedef struct pipectl_chain_job {
	pctl_head head;
	const char *id, *name, *sender, *output, *error;
	uint64_t position, height, clock, gas, gas_used, ended, output_bytes;
	uint32_t state;
	uint32_t reserved;
} pipectl_chain_job;

/*
 * Submit a job: when it returns, the message is durable. Errors: PC5804, PC5805, PC5822 (the shader), PC5818 (its gas is above the
 * limit), PC5713 (the balance), PC5816 (a CID that the store lacks), PC5801 (a job that is none), .. By the rules of the
 * chain a refused job may be kept as one that failed, and charged.
 */
PCTL_EXPORT pctl_status pipectl_chain_submit(pipectl_chain *c, const pipectl_chain_work *work,
					     pipectl_chain_job *out);
/*
 * Submit every job of a pipeline, all or none, each with the gas limit; shaders that are not registered are uploaded.
 * inputs: a name and a file or CID each. The policy admits it as a run (PC6010 to PC6012). The list is in the order of the
 * pipeline, with names. Errors besides: PC5827 (the chain has no such thing: an op, a repeat), PC4011, PC0010.
 */
PCTL_EXPORT pctl_status pipectl_chain_submit_pipeline(pipectl_chain *c, pipectl_pipeline *pl,
						      const pipectl_setting *inputs,
						      uint32_t n_inputs, uint64_t gas_limit,
						      pipectl_chain_jobs **out);

/* A job by its id, with or without "job:" before it. PC5801. */
PCTL_EXPORT pctl_status pipectl_chain_job_read(pipectl_chain *c, const char *id,
					       pipectl_chain_job *out);
/* Jobs, newest first. sender NULL: of all; state: PIPECTL_JOB_*, 0: any. */
PCTL_EXPORT pctl_status pipectl_chain_jobs_list(pipectl_chain *c, const char *sender,
						uint32_t state, pipectl_chain_jobs **out);
/* Those that a block ended, in their order. */
PCTL_EXPORT pctl_status pipectl_chain_jobs_of_block(pipectl_chain *c, uint64_t height,
						    pipectl_chain_jobs **out);
PCTL_EXPORT uint32_t pipectl_chain_jobs_count(const pipectl_chain_jobs *jobs);
/* PC0011 past the end. */
PCTL_EXPORT pctl_status pipectl_chain_jobs_at(const pipectl_chain_jobs *jobs, uint32_t i,
					      pipectl_chain_job *out);
PCTL_EXPORT void pipectl_chain_jobs_release(pipectl_chain_jobs *jobs);

/*
 * A finished block.
 *
 * executor     the account that was paid
 * state_root   64 hex digits; commit: of the history, which names this block and all before it
 * first_clock  and final_clock: its logical times
 * complete, failed, deferred  jobs that ended well or not, and that stayed in the queue
 * messages     taken in since the block before; gas: charged to its jobs
 */
typedef struct pipectl_block {
	pctl_head head;
	const char *executor, *state_root, *commit;
	uint64_t height, first_clock, final_clock;
	uint64_t complete, failed, deferred, messages, gas;
} pipectl_block;

/*
 * End the open block: its jobs run, and it is final when this returns, with a signed receipt in the home. executor: the
 * account that is paid, NULL for "executor". After an error, a cancelled end too, nothing has changed, and ending it again
 * gives the same block. Errors: PC5237 (the policy wants a quorum), those of devices.
 */
PCTL_EXPORT pctl_status pipectl_chain_block_end(pipectl_chain *c, const char *executor,
						pipectl_block *out);
/* height 0: the last one. PC5852. */
PCTL_EXPORT pctl_status pipectl_chain_block_read(pipectl_chain *c, uint64_t height,
						 pipectl_block *out);

/*
 * What came of verifying blocks. Also after an error it is filled in.
 *
 * agreed      1: every byte of every output, file and commit is what was recorded
 * code        0, or of what differs or went wrong first (5855 for PC5855), and difference: in words, or NULL
 * executed    jobs that ran again, of as many blocks, messages and jobs
 */
typedef struct pipectl_verdict {
	pctl_head head;
	uint32_t agreed, code;
	const char *difference;
	uint64_t blocks, messages, jobs, executed;
} pipectl_verdict;

/*
 * Make the blocks from..to again from the history, their jobs on the chain's devices, and compare; where an output differs
 * the reference says which is right. Nothing changes. Errors: PC5852 (no such blocks), PC5855 to PC5863 (what differs).
 */
PCTL_EXPORT pctl_status pipectl_chain_verify(pipectl_chain *c, uint64_t from, uint64_t to,
					     pipectl_verdict *out);

/* ---- the graph ------------------------------------------------------------------------------ */

/*
 * What a question is about: edges; what led to a name (a CID or "job:ID"), job by job; jobs that took it, or took what came of it;
 * jobs by their logical clocks; the ranks of a name and its neighbours.
 */
#define PIPECTL_GRAPH_EDGES 1u
#define PIPECTL_GRAPH_HISTORY 2u
#define PIPECTL_GRAPH_DEPENDENTS 3u
#define PIPECTL_GRAPH_JOBS 4u
#define PIPECTL_GRAPH_RANK 5u

/* What a name is of the edges that are asked for; BLOCK: those of the block `height`, without a name. */
#define PIPECTL_GRAPH_FROM 1u
#define PIPECTL_GRAPH_TO 2u
#define PIPECTL_GRAPH_VIA 3u
#define PIPECTL_GRAPH_BY 4u /* "job:ID", which made them */
#define PIPECTL_GRAPH_BLOCK 5u

/* Kinds of edges: account -> shader; shader -> CID of an algorithm; what went in -> output; account -> job; job -> output;
 * parent -> job; CID -> CID; alias -> shader; account -> shader. */
#define PIPECTL_EDGE_UPLOAD 1u
#define PIPECTL_EDGE_IMPLEMENTS 2u
#define PIPECTL_EDGE_INPUT 3u
#define PIPECTL_EDGE_EXECUTED 4u
#define PIPECTL_EDGE_OUTPUT 5u
#define PIPECTL_EDGE_PARENT 6u
#define PIPECTL_EDGE_LINK 7u
#define PIPECTL_EDGE_ALIAS 8u
#define PIPECTL_EDGE_DEPRECATED 9u

/*
 * A question about what was made from what.
 *
 * op      PIPECTL_GRAPH_EDGES to _RANK
 * role    of EDGES: PIPECTL_GRAPH_FROM to _BLOCK; 0: all edges
 * name    a CID, "job:ID", "account:NAME" or "alias:NAME", as op and role take it; NULL: none. JOBS: of all, an account, a shader or a job
 * height  as of that block; 0: with what the open block has
 * from_clock, to_clock  of EDGES and JOBS; 0, 0: all
 * kinds   of EDGES, 1u << PIPECTL_EDGE_*, together; 0: all
 * limit   edges or jobs of a page, at most 1000; 0: 100
 * next    n_next bytes that the page before ended with; the rest of the question is the same. 0: the first page
 * proves  1: with proofs that the rows are in the state of the last block (then of EDGES, at most 16 a page)
 */
typedef struct pipectl_graph_question {
	pctl_head head;
	uint32_t op, role;
	const char *name;
	uint64_t height, from_clock, to_clock;
	uint32_t kinds, limit;
	const void *next;
	uint64_t n_next;
	uint32_t proves, reserved;
} pipectl_graph_question;

/* A page of the answer, which lives until it is released, whatever the chain does. */
typedef struct pipectl_chain_graph pipectl_chain_graph;

/*
 * Errors: PC0011 (no such op), PC5730, PC5731 (fields that do not go together, a `next` of another question), PC5852 (no such block), PC5880 (no
 * such name), PC5883 (a history of nothing),
 * PC6102 (no rank was asked for by then).
 */
PCTL_EXPORT pctl_status pipectl_chain_graph_ask(pipectl_chain *c,
						const pipectl_graph_question *question,
						pipectl_chain_graph **out);
PCTL_EXPORT void pipectl_chain_graph_release(pipectl_chain_graph *g);

/*
 * height  the block that the answer is of
 * epoch   of ranks: the block that asked for them
 * cut     what was left out of a history or of dependents because there is too much of it, 0: nothing
 * next    n_next bytes for the page behind this one; 0: this was the last
 */
typedef struct pipectl_graph_page {
	pctl_head head;
	uint64_t height, epoch, cut;
	uint32_t n_edges, n_jobs, n_ranks, n_proofs;
	const void *next;
	uint64_t n_next;
} pipectl_graph_page;
PCTL_EXPORT pctl_status pipectl_chain_graph_page(const pipectl_chain_graph *g,
						 pipectl_graph_page *out);

/* number: in the order of making, from 1; via and job NULL: none; is_gone: a link that was taken back. */
typedef struct pipectl_graph_edge {
	pctl_head head;
	uint64_t number, height, clock;
	uint32_t kind, is_gone;
	const char *source, *target, *via, *job;
} pipectl_graph_edge;
/* PC0011 past the end, here and below. */
PCTL_EXPORT pctl_status pipectl_chain_graph_edge(const pipectl_chain_graph *g, uint32_t i,
						 pipectl_graph_edge *out);

/* As pipectl_chain_job has it; n_inputs: what it took and waited for. */
typedef struct pipectl_graph_job {
	pctl_head head;
	const char *id, *sender, *shader, *output, *error;
	uint64_t gas_used, clock, height, ended;
	uint32_t state, n_inputs;
} pipectl_graph_job;
PCTL_EXPORT pctl_status pipectl_chain_graph_job(const pipectl_chain_graph *g, uint32_t i,
						pipectl_graph_job *out);

/* kind: PIPECTL_EDGE_INPUT or _PARENT; maker: the id of the job that gave it, NULL: it was given. */
typedef struct pipectl_graph_input {
	pctl_head head;
	const char *name, *maker;
	uint32_t kind, reserved;
} pipectl_graph_input;
PCTL_EXPORT pctl_status pipectl_chain_graph_input(const pipectl_chain_graph *g, uint32_t job,
						  uint32_t i, pipectl_graph_input *out);

typedef struct pipectl_graph_rank {
	pctl_head head;
	const char *name;
	uint64_t rank;
} pipectl_graph_rank;
PCTL_EXPORT pctl_status pipectl_chain_graph_rank(const pipectl_chain_graph *g, uint32_t i,
						 pipectl_graph_rank *out);

/* The text of a proof, as `ledger prove` writes and checks it. */
typedef struct pipectl_graph_proof {
	pctl_head head;
	const char *text;
	uint64_t n_bytes;
} pipectl_graph_proof;
PCTL_EXPORT pctl_status pipectl_chain_graph_proof(const pipectl_chain_graph *g, uint32_t i,
						  pipectl_graph_proof *out);

PCTL_C_END

#endif
