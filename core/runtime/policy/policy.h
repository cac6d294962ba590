/* The policy in force: what may run, on what, and how much is checked. A policy file may inherit
 * from another and may then only be stricter than it in what the parent sets. Nothing is enforced
 * here: exec and the verbs ask. */
#ifndef PIPECTL_RUNTIME_POLICY_POLICY_H
#define PIPECTL_RUNTIME_POLICY_POLICY_H

#include "runtime/cas/evidence.h"
#include "foundation/conf/schema.h"
#include "runtime/plugin/registry.h"
#include "compiler/analysis/extents.h"

enum { PCTL_RACE_PROVEN = 0, PCTL_RACE_CHECKED = 1, PCTL_RACE_TRUSTED = 2 }; /* strictest first */
enum { PCTL_VERIFY_NONE = 0, PCTL_VERIFY_SAMPLE = 1, PCTL_VERIFY_ALL = 2 };
enum { PCTL_MEMO_OFF = 0, PCTL_MEMO_VERIFIED = 1, PCTL_MEMO_ANY = 2 };
#define PCTL_POLICY_LEVEL_MAX 4u /* certificate levels: 0 none, 1 to 4 L1 to L4 */

/*
 * A policy with every value filled in. Lists are in the order of the file.
 *
 * max_class   PCTL_CLASS_* of oplib.h: the most a pipeline may need
 * verify_ppm  share of jobs that are recomputed on the reference, in millionths (ALL: 1000000)
 * quorum      k of n devices must agree on every output; 1 of 1 asks for nothing
 * memory_bytes  of the buffers of a job; time_ms of a run; memo_bytes of the intermediate results of a run that are stored so
 *             that the jobs after them are remembered; 0 is no limit
 */
typedef struct pctl_policy_cert {
	const char *ops; /* glob over op names, '*' any run of characters */
	uint32_t level;
	uint32_t reserved;
} pctl_policy_cert;

typedef struct pctl_policy {
	const char *path; /* of the file, NULL: built in */
	const char *about;
	uint32_t max_class;
	uint32_t race;	 /* PCTL_RACE_* */
	uint32_t verify; /* PCTL_VERIFY_* */
	uint32_t verify_ppm;
	uint32_t quorum_k, quorum_n;
	uint32_t only_confined; /* workers run confined or not at all */
	uint32_t only_apart;	/* with namespaces of their own or not at all */
	uint32_t
		worker_share; /* hundredths of the machine's memory that one may use; 0 is no limit */
	uint32_t in_process; /* plugins that allow it may run inside the host */
	uint32_t memo;	     /* PCTL_MEMO_* */
	uint32_t deprecated; /* 1: ops that are superseded may run */
	uint32_t dirty;	     /* 1: an uncommitted pipeline may run */
	uint32_t must_sign;  /* 1: only what one of the signers has signed runs */
	uint32_t telemetry;
	uint32_t n_certs, n_order, n_allowed, n_forbidden, n_plugins, n_pins, n_signers;
	uint32_t reserved;
	uint64_t memory_bytes, time_ms, memo_bytes;
	pctl_worker_limits worker;  /* as written; pctl_policy_plugin_rules says what holds here */
	pctl_extent_limits program; /* how large a kernel may be as written, 0: any size */
	uint32_t max_turns;	    /* budget of loops that nothing bounds, 0: they are refused */
	uint64_t race_cost;	    /* most gas of a job that is checked for races; 0 is no limit */
	const char *memory_by;	    /* where the limit on memory stands */
	const pctl_policy_cert *certs;
	const char *const *order;   /* backend patterns, see pctl_policy_backend_match */
	const char *const *allowed; /* empty: all */
	const char *const *forbidden;
	const char *const *plugins; /* ids that may be used; empty: all */
	const char *const *pins;    /* pairs: id, sha256 in hex */
	const char *const *signers; /* public keys in hex */
} pctl_policy;

/* The built-in policy: what holds where no file says otherwise. */
pctl_status pctl_policy_default(const pctl_call *call, pctl_policy **out);
/* Finds a policy file that does not lie beside the one that inherits from it, say among those of the installation: its
 * path, released with free(), or NULL. */
typedef char *(*pctl_policy_find)(void *ctx, const char *name);

/* Read a file and its ancestors (`inherits`: relative to the file, else what `find` knows; NULL: nothing further; at most
 * 8). All errors at once.
 * Errors: PCTL_E_IO, PCTL_E_INVALID (PC10xx, PC4301 a child weaker than its parent, PC4302
 * inheritance). */
pctl_status pctl_policy_read(const char *path, pctl_policy_find find, void *ctx,
			     const pctl_call *call, pctl_policy **out);
void pctl_policy_destroy(pctl_policy *p);

/* Every value as text with its origin, in the order of the documentation; for `plan` and `doctor`.
 */
uint32_t pctl_policy_setting_count(const pctl_policy *p);
const pctl_conf_setting *pctl_policy_setting_at(const pctl_policy *p, uint32_t i);
/* Where a key's value came from: "file:line" or "built in"; NULL for a key that does not exist. */
const char *pctl_policy_origin(const pctl_policy *p, const char *key);
/* The schema of the group `policy`, for documentation and tests. */
const pctl_conf_schema *pctl_policy_schema(void);

/* ---- questions ---------------------------------------------------------------------------- */

/* A program or op of class `c` under this policy, in a pipeline that allows at most
 * `pipeline_class` (0: says nothing). PC4310 names who forbids it. subject: the job or op. */
pctl_status pctl_policy_class_allowed(const pctl_policy *p, uint32_t c, uint32_t pipeline_class,
				      const char *subject, const pctl_call *call);
/* The most that both allow. */
uint32_t pctl_policy_class(const pctl_policy *p, uint32_t pipeline_class);

/* An op whose library calls it superseded, and says what to use (`instead`, NULL: it does not). PC4319. subject: the job. */
pctl_status pctl_policy_deprecated_allowed(const pctl_policy *p, const char *instead,
					   const char *op, const char *subject, const pctl_pos *pos,
					   const pctl_call *call);

/* Atomics whose order shows: only where policy and pipeline allow class approximate. PC4315 at pos, in the kernel;
 * hint may be NULL. */
pctl_status pctl_policy_order_allowed(const pctl_policy *p, uint32_t pipeline_class,
				      const char *subject, const pctl_pos *pos, const char *hint,
				      const pctl_call *call);

/* What is known of a program's race freedom (semantics section 5), and what to do about it. */
enum {
	PCTL_RACES_UNPROVEN = 0,
	PCTL_RACES_PROVEN = 1,
	PCTL_RACES_REFUTED = 2,
	PCTL_RACES_CHECKED = 3
};
/* What an analysis proved of a kernel (PCTL_PROOF_*), in these terms. */
uint32_t pctl_policy_races(uint32_t proof);
/* Why a job's freedom from races is believed: "proven", "checked" or "trusted" (PCTL_RACES_UNPROVEN), and back; 0 for
 * another word. */
const char *pctl_policy_races_word(uint32_t races);
int pctl_policy_races_of(const char *word, uint32_t *out);
enum {
	PCTL_VERDICT_OK = 0,
	PCTL_VERDICT_WARN = 1,
	PCTL_VERDICT_REFUSE = 2,
	PCTL_VERDICT_CHECK = 3 /* the reference is to run these inputs with its detector */
};
uint32_t pctl_policy_race_verdict(const pctl_policy *p, uint32_t races);

/*
 * What is known of one job, and of its data.
 *
 * races    PCTL_RACES_*
 * gas      what the job costs, against race_cost; UINT64_MAX: there is nothing that could check it
 * subject  the job; pos where it is declared (may be NULL)
 * detail   what races, or NULL: "invocations 0 and 1 race for byte 0 of \"r\""
 * place    the two accesses; a file of NULL: not known
 */
typedef struct pctl_policy_race {
	uint32_t races, reserved;
	uint64_t gas;
	const char *subject, *detail;
	const pctl_pos *pos;
	pctl_pos place[2];
} pctl_policy_race;
/* PC4311 where the policy refuses it, or warns of it, at its first access. PCTL_OK with a verdict of CHECK: the caller
 * checks. */
pctl_status pctl_policy_race_allowed(const pctl_policy *p, const pctl_policy_race *what,
				     const pctl_call *call);

/* A device as backends name it. kind: PCTL_DEVICE_* of backend.h. */
typedef struct pctl_policy_device {
	const char *backend;
	const char *name;
	uint32_t index;
	uint32_t kind;
} pctl_policy_device;

/* 1 when a pattern speaks of this device: "vulkan", "vulkan:0" (index), "vulkan:llvmpipe" (part of
 * the name, case ignored), "vulkan/discrete" (kind: discrete, integrated, cpu, reference, other,
 * gpu), "*" (any). */
int pctl_policy_backend_match(const char *pattern, const pctl_policy_device *d);
/* PC4312 when `allowed` leaves it out or `forbidden` names it, with the line that says so. */
pctl_status pctl_policy_backend_allowed(const pctl_policy *p, const pctl_policy_device *d,
					const pctl_call *call);
/* Place in `order`, smaller is preferred; UINT32_MAX: never chosen unless named. */
uint32_t pctl_policy_backend_rank(const pctl_policy *p, const pctl_policy_device *d);

/* What the policy says of plugins, for the registry, which holds to it; it lives as long as the policy. */
void pctl_policy_plugin_rules(const pctl_policy *p, pctl_plugin_rules *out);

/* The least certificate level asked for an op: the highest of all rules whose glob matches. */
uint32_t pctl_policy_certificate(const pctl_policy *p, const char *op);
/* PC4316, with the hint unless it is NULL, when `level`, which the device holds for the op, is below that. op: without its
 * version. */
pctl_status pctl_policy_certificate_allowed(const pctl_policy *p, const char *op, uint32_t level,
					    const char *device, const char *hint,
					    const pctl_call *call);

/* May a result that stands so be taken in place of a run? level: the least certificate level that the policy asks for
 * the run's ops, 0 when it asks none for one of them. */
int pctl_policy_evidence_suffices(const pctl_policy *p, pctl_evidence e, uint32_t level);

/* The smaller of two limits of which 0 means none. */
static inline uint64_t pctl_policy_least(uint64_t a, uint64_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}
/* PC4318 at the place in the program where the largest share of what is too much comes from. The chain's own rules
 * stand in for this there (chain/registry/rules.h). */
pctl_status pctl_policy_program_allowed(const pctl_policy *p, const pctl_program *program,
					const pctl_analysis_query *known, int with_turns,
					const char *subject, const pctl_call *call);
/* Hold to another's limits too, of which 0 means none: the smaller ones count. memory_by: where that on memory stands; it
 * outlives the policy. */
void pctl_policy_limit(pctl_policy *p, uint64_t memory_bytes, const char *memory_by,
		       uint64_t time_ms);

/* PC4314 when a session would need more than the policy's memory. */
pctl_status pctl_policy_memory_allowed(const pctl_policy *p, uint64_t bytes, const char *subject,
				       const pctl_call *call);

#endif
