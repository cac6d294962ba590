/* A session: one opened device with the kernels built for it. It legalises, builds once, and keeps
 * what drivers compiled on disk for the next run. One thread at a time. */
#ifndef PIPECTL_RUNTIME_EXEC_SESSION_H
#define PIPECTL_RUNTIME_EXEC_SESSION_H

#include "runtime/graph/jobplan.h"
#include "pipectl/backend.h"
#include "runtime/plugin/instance.h"
#include "runtime/device/profiles.h"

typedef struct pctl_session pctl_session;

/*
 * backend      an opened backend, whose plugin answers for what the session does; it outlives the session. NULL: `table`
 *              and `inst` are of no plugin (tests), and nothing of it is certified
 * table, inst  in place of the backend's, where they are not NULL
 * index        the device in it
 * name         for messages: "vulkan:0 (llvmpipe ..)"
 * id           stable id for records: "vulkan:0"
 * cache_dir    where compiled kernels are kept, or NULL
 * build_flags  PCTL_BUILD_*
 * profiles     what is proved of devices; outlives the session. NULL: no strict floats but on the
 *              reference
 * legal_flags  PCTL_LEGAL_NATIVE: class approximate
 * profile_flags  PCTL_PROFILES_*
 * without_contracts  1: no kernel has a program under range contracts, for nobody would choose it
 */
typedef struct pctl_session_options {
	const pctl_backend_instance *backend;
	const pctl_backend *table;
	pctl_instance *inst;
	uint32_t index;
	uint32_t build_flags;
	uint32_t device_kind; /* PCTL_DEVICE_*: the reference gets programs as written */
	const char *name;
	const char *id;
	const char *cache_dir;
	pctl_profiles *profiles;
	uint32_t legal_flags;
	uint32_t profile_flags;
	uint32_t without_contracts;
} pctl_session_options;

pctl_status pctl_session_open(const pctl_session_options *o, const pctl_call *call,
			      pctl_session **out);
/* Waits for nothing: work under way is cancelled. NULL is fine. */
void pctl_session_close(pctl_session *s);

const char *pctl_session_name(const pctl_session *s);
const char *pctl_session_id(const pctl_session *s);
const pctl_device_caps *pctl_session_caps(const pctl_session *s);
uint32_t pctl_session_kind(const pctl_session *s);	  /* PCTL_DEVICE_* */
uint32_t pctl_session_build_flags(const pctl_session *s); /* PCTL_BUILD_* */
/* What the canonical plan of gas may rely on. */
pctl_plan_caps pctl_run_canonical_caps(void);
/* What plans for this device may rely on. */
pctl_plan_caps pctl_session_plan_caps(const pctl_session *s);
/* The tunables among them, zeros before they are learned (session_tuning.c). */
pctl_status pctl_session_learn_tuning(pctl_session *s, const pctl_call *call);
void pctl_session_tunables(const pctl_session *s, uint32_t *out);
/* Keep a record of them; nothing where the session has no profiles. */
pctl_status pctl_session_keep_tuning(const pctl_session *s, pctl_tuning_record *r,
				     const pctl_call *call);
/* Turns that the loops of a plan's kernel may make in one invocation, 0: any number. Half of what the device makes,
 * since legalisation may write a loop twice. */
uint32_t pctl_session_plan_turns(const pctl_session *s);
/* Bytes of workgroup memory that a plan's kernel may have: the device's, as far as it was seen right. */
uint32_t pctl_session_plan_workgroup(const pctl_session *s);
/* Obtain the profile where f64 may be the device's own (which may probe it), before plans that would use it. */
pctl_status pctl_session_learn_doubles(pctl_session *s, const pctl_call *call);
/* The same of products of packed bytes and of matrix tiles of bytes, where the device claims them. */
pctl_status pctl_session_learn_bytes(pctl_session *s, const pctl_call *call);
/* PCTL_PLAN_PROVEN_* of it, by the profile in force if one was obtained already; the reference has them all. */
uint64_t pctl_session_proven(const pctl_session *s);
/* Know how large programs may be on this device, if the unit is so large that it matters; that may search the device,
 * once for all sessions. Before plans are asked for. */
pctl_status pctl_session_learn(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call);
/* What programs may need here at most, learnt now if it was not before (which may search the device); 0: any. */
pctl_status pctl_session_most(pctl_session *s, const pctl_call *call, pctl_extent_limits *out);
/* Identity facts in the backend's order. */
uint32_t pctl_session_identity(const pctl_session *s, const pctl_key_value **out);
/* The device's profile, obtained now if it was not before (which may probe it). NULL with PCTL_OK: the reference, or a
 * session without profiles. */
pctl_status pctl_session_profile(pctl_session *s, const pctl_call *call,
				 const pctl_profile_record **out);
/* The device's limits (limits_record.h), which may recheck or search it. Without a limit: the reference. */
pctl_status pctl_session_limits(pctl_session *s, const pctl_call *call, pctl_limits_record *out);
/* What it has of its own of the operations that no device need have (optional.h), asked now as far as nobody did before: packed
 * products, and subgroup operations of the size that it names. Lives as long as the session. */
pctl_status pctl_session_own_operations(pctl_session *s, const pctl_call *call,
					const pctl_optional_record **out);
/* The profile in force, if one was obtained already, else NULL. */
const pctl_profile_record *pctl_session_profile_known(const pctl_session *s);
/* pctl_backend_instance_files of when the device had been opened; "" for the reference and a table of no plugin. */
const char *pctl_session_files(const pctl_session *s);
/*
 * What of it is the driver: the SHA-256 of every library that was mapped when it was opened, a line each, in order, no two
 * alike. No file's name is in it, so that a driver is the same under two ICD files or copied to another place. "" where
 * there is no driver, or nothing was seen of it: a session in the host, mappings that cannot be read.
 */
const char *pctl_session_driver(const pctl_session *s);
/*
 * Look again at what its worker has mapped, after the last dispatch and before bytes of it count. Libraries that were not
 * there when it was opened make it another device: its profile, if one is in force, is obtained anew by the key that names
 * them too, which may probe.
 *
 * Errors: PC5225 (that profile is not the one its kernels were built by), those of pctl_profiles_obtain.
 */
pctl_status pctl_session_settle(pctl_session *s, const pctl_call *call);
/* Libraries that it has mapped since it was opened, as of its last settling, "NAME<TAB>SHA-256" a line; what compilers and
 * drivers load late, or what a plugin does not want to be seen with. */
const char *pctl_session_late(const pctl_session *s);
/* The plugin whose file was loaded; NULL for a table of no plugin. */
const pctl_plugin_info *pctl_session_plugin(const pctl_session *s);
uint32_t pctl_session_roles(const pctl_session *s); /* PCTL_ROLE_* of its plugin; 0 of none */
int pctl_session_is_lost(
	const pctl_session *s); /* 1: its worker has ended, and nothing of it is of use */
const pctl_backend *pctl_session_table(const pctl_session *s);
pctl_device *pctl_session_device(const pctl_session *s);

/* Build every kernel of a plan now. Errors: what kernel_build refuses; PC3110 (it took more than it may, and the worker was
 * ended for it: the session is of no more use). */
pctl_status pctl_session_build(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call);
/* 1: it is of use to tell the session what it will build. */
int pctl_session_looks_ahead(const pctl_session *s);
/* Kernels of this plan will be built before long: further processes may compile them meanwhile, on devices that are processors themselves.
 * It says nothing: what cannot be built is refused where it is built. */
void pctl_session_foresee(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call);
/* 1: all of them are. */
int pctl_session_has_built(const pctl_session *s, const pctl_job_plan *plan);
/* The unit built for this device, from the session's cache, the disk's, or now. */
pctl_status pctl_session_kernel(pctl_session *s, const pctl_kernel_module *unit,
				const pctl_call *call, pctl_kernel **out);

/*
 * Where more than `most` kernels are built, those that were asked for longest ago are dropped, down to half of `most`; they
 * are built again when they are asked for. Between runs: nothing that was recorded with one is used any more. One under a
 * range contract, or that is being compiled elsewhere, stays.
 */
pctl_status pctl_session_forget_kernels(pctl_session *s, uint32_t most, const pctl_call *call);
uint32_t pctl_session_kernels_kept(const pctl_session *s);

/*
 * The unit under range contracts (compiler/legalize/contract.h): what is proved of it on this device, made on first need. It
 * lives as long as the session. A device that keeps subnormals has nothing to prove, and the reference never has.
 */
struct pctl_contract_proof;
pctl_status pctl_session_contract(pctl_session *s, const pctl_kernel_module *unit,
				  const pctl_call *call, const struct pctl_contract_proof **proof);
/* Its kernel, which is right only over buffers that fulfil the contract; NULL where it is not proven. */
pctl_status pctl_session_contract_kernel(pctl_session *s, const pctl_kernel_module *unit,
					 const pctl_call *call, pctl_kernel **out);
/* The identity of that program, by which its first build is noted as checked; 0: it is not proven. */
pctl_status pctl_session_contract_cid(pctl_session *s, const pctl_kernel_module *unit,
				      const pctl_call *call, pctl_cid *cid, int *is);
/* The kernel that finds out whether a buffer fulfils the contract: group 0 binding 0 are its words, binding 1 a word that
 * becomes other than 0 where one is outside. Workgroups for n words: */
pctl_status pctl_session_range_check(pctl_session *s, const pctl_call *call, pctl_kernel **out);
void pctl_session_range_groups(const pctl_session *s, uint64_t n_words, uint32_t groups[3]);
/* What is known of a value by its CID: 1 it fulfils the contract, 0 it does not, -1 nobody looked on this session. */
int pctl_session_range_known(const pctl_session *s, const pctl_cid *cid);
/* Without memory for it, it is not remembered. */
void pctl_session_range_note(pctl_session *s, const pctl_cid *cid, int fulfils);

/* A unit as this device gets it, for people: `legal` its program, which the caller destroys; or, where it is NULL, what the
 * driver's compiler would be handed, as its plugin says: `text`, which the caller frees, in `language`[PCTL_NAME_MAX].
 * Errors: what the legaliser refuses; PC3218 (the backend shows none). */
pctl_status pctl_session_legal(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call, pctl_program **legal);
pctl_status pctl_session_source(pctl_session *s, const pctl_kernel_module *unit,
				const pctl_call *call, char **text, uint64_t *n, char *language);

/* The buffer of a plan's constant, of exactly its bytes, uploaded when a job of this session first has it: the session's, as long as
 * it lives. */
pctl_status pctl_session_constant(pctl_session *s, const pctl_plan_buffer *constant,
				  const pctl_call *call, pctl_buffer **out);

/* Can temporaries of this plan share one buffer here. */
int pctl_session_pools(const pctl_session *s, const pctl_job_plan *plan);

/* Can this device run the plan: types, limits of bindings, memory, workgroups, and programs within what the device is
 * known to do right. Reports why not (PC52xx); another device may. */
pctl_status pctl_session_qualify(pctl_session *s, const pctl_job_plan *plan, const pctl_call *call);

#endif
