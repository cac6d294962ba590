/* What the files of a session share. */
#ifndef PIPECTL_RUNTIME_EXEC_SESSION_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_SESSION_PRIVATE_H

#include "compiler/legalize/contract.h"
#include "foundation/base/map.h"
#include "runtime/exec/session.h"
#include "runtime/device/limits.h"

#define PCTL_SESSION_IDENTITY 32u

/* A unit on this device; the kernel is NULL until somebody runs it. contract: the same under range contracts, NULL where
 * that is not proven, or nobody asked yet. */
struct pctl_session_built {
	uint8_t *wire;
	uint64_t n_wire;
	pctl_kernel *kernel;
	struct pctl_session_built *contract;
	pctl_contract_proof proof;
	uint32_t contract_asked;
	uint32_t is_foreseen; /* session_ahead.c has it among its tasks */
	uint64_t used;	      /* the session's count of questions when it was last asked for */
};

struct pctl_session {
	pctl_session_options o;
	char *name, *id, *cache_dir;
	pctl_device *dev;
	pctl_device_caps caps;
	pctl_key_value identity[PCTL_SESSION_IDENTITY];
	uint32_t n_identity;
	char files
		[PCTL_SESSION_FILES_TEXT]; /* what it was opened on, see runtime/plugin/instance.h */
	char files_now[PCTL_SESSION_FILES_TEXT]; /* the same when it was settled last */
	char drivers[PCTL_SESSION_FILES_TEXT], drivers_now[PCTL_SESSION_FILES_TEXT];
	pctl_str_buf libraries, late; /* mapped when it was opened, and since, in lines */
	char *driver;		      /* session_driver.c */
	pctl_cid
		identity_cid; /* of identity facts and files: part of the key of compiled kernels */
	pctl_profile_record *profile; /* NULL: not asked for yet */
	pctl_map *constants;	      /* text of a CID to pctl_buffer; NULL: none yet */
	pctl_map *kernels;	      /* text of a unit's CID to struct pctl_session_built */
	uint64_t n_asked;	      /* for kernels */
	pctl_extent_limits limits;    /* what programs may need here; never of the reference */
	uint32_t limits_slow; /* bit e: extent e ends where the device was too slow to be asked */
	struct pctl_kernel_module *range_check; /* session_contract.c; NULL: not made yet */
	pctl_map *
		ranges; /* text of a value's CID: what is put there is not NULL where it fulfils the contract */
	pctl_optional_record *optional;	   /* session_optional.c; NULL: nothing was asked for yet */
	uint32_t tunable[PCTL_N_TUNABLES]; /* session_tuning.c */
	int tuning_learned;
	struct pctl_session_ahead *ahead; /* session_ahead.c; NULL: nothing is compiled elsewhere */
	int is_never_ahead;		  /* 1: it was tried, and gains nothing */
	int limits_known;   /* 1: by the table, so that nothing needs to be searched for */
	int limits_learned; /* 1: what is kept of this device is among them */
};

/* session_driver.c: s->driver from s->libraries. */
pctl_status pctl_session_know_driver(pctl_session *s, const pctl_call *call);

/* The wire form of a unit for this device, released with free(): the reference gets the program as written, all others
 * the legalised one. Errors: what the legaliser refuses; PC5218. */
pctl_status pctl_session_wire(pctl_session *s, const pctl_kernel_module *unit,
			      const pctl_call *call, uint8_t **wire, uint64_t *n);

/* The same of the program under range contracts; *wire is NULL where it is not proven. Quiet about what the device lacks. */
pctl_status pctl_session_contract_wire(pctl_session *s, const pctl_kernel_module *unit,
				       const pctl_call *call, pctl_contract_proof *proof,
				       uint8_t **wire, uint64_t *n);

/* The entry of a unit: its wire form for this device, which the backend has said it can run. */
pctl_status pctl_session_entry(pctl_session *s, const pctl_kernel_module *unit,
			       const pctl_call *call, struct pctl_session_built **out);
/* NULL is fine. */
void pctl_session_drop_built(pctl_session *s, struct pctl_session_built *built);
/* Its kernel, from memory, the disk, or built now. */
pctl_status pctl_session_build_entry(pctl_session *s, struct pctl_session_built *built,
				     const pctl_call *call, pctl_kernel **out);
/* session_optional.c: ask for what plans may use, where the device claims it: matrix tiles (PCTL_LEGAL_TILE_*), products of packed bytes. */
pctl_status pctl_session_learn_tiles(pctl_session *s, uint32_t products, const pctl_call *call);
pctl_status pctl_session_learn_dot4(pctl_session *s, const pctl_call *call);
/* session_optional.c: what of a program's packed products and subgroup operations the device does itself, as a probe has shown;
 * asked in a process of its own, so that a driver that dies of it, or never comes back, costs the work that is made of ordinary
 * operations instead, and no job. */
pctl_status pctl_session_optional(pctl_session *s, const pctl_program *p, const pctl_call *call,
				  pctl_legal_options *out);

/* What `profiles` asks of this session's device. */
pctl_profiled_device pctl_session_profiled(const pctl_session *s);
/* The same device opened in a process of its own, for what may cost it that process; *aside NULL and *dev its own where there is
 * none to be had: a backend in the host, or none. Errors: those of opening it, PC4331 (it names other facts of itself). */
pctl_status pctl_session_aside(const pctl_session *s, const pctl_call *call,
			       pctl_backend_instance **aside, const pctl_backend **table,
			       pctl_device **dev);
void pctl_session_aside_close(pctl_backend_instance *aside, pctl_device *dev,
			      const pctl_call *call);

/* Where the compiled kernel is kept, released with free(); NULL: nowhere. */
char *pctl_session_cache_path(const pctl_session *s, const struct pctl_session_built *built,
			      const pctl_call *call);
/* Keep what the driver compiled, unless the disk has these very bytes; `table` and `dev` made it. [any thread] */
void pctl_session_keep_compiled(const pctl_session *s, const pctl_backend *table, pctl_device *dev,
				pctl_kernel *k, const char *path, const char *cached,
				uint64_t n_cached);
/* session_ahead.c: the session is about to build it, and nobody else begins to; who has begun is waited for. How long that took
 * him; 0: nobody did it. */
uint64_t pctl_session_claim(pctl_session *s, const struct pctl_session_built *built,
			    const pctl_call *call);
/* It is built. What others compiled must load in less time than it took them, else they are sent home, as they are when all is done. */
void pctl_session_judge_ahead(pctl_session *s, uint64_t compiled_ns, uint64_t loaded_ns);
void pctl_session_end_ahead(pctl_session *s);

/* session_contract.c: when a session closes. */
void pctl_session_drop_contracts(pctl_session *s);
void pctl_session_drop_constants(pctl_session *s);

#endif
