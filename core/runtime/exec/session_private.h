/* What the files of a session share. */
#ifndef PIPECTL_RUNTIME_EXEC_SESSION_PRIVATE_H
#define PIPECTL_RUNTIME_EXEC_SESSION_PRIVATE_H

#include "foundation/base/map.h"
#include "runtime/exec/session.h"
#include "runtime/device/limits.h"

#define PCTL_SESSION_IDENTITY 32u

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
	pctl_str_buf libraries, late; /* mapped when it was opened, and since, in lines */
	pctl_cid
		identity_cid; /* of identity facts and files: part of the key of compiled kernels */
	pctl_profile_record *profile; /* NULL: not asked for yet */
	pctl_map *kernels;	      /* text of a unit's CID to struct built */
	pctl_extent_limits limits;    /* what programs may need here; never of the reference */
	uint32_t limits_slow; /* bit e: extent e ends where the device was too slow to be asked */
	int limits_known;     /* 1: by the table, so that nothing needs to be searched for */
	int limits_learned;   /* 1: what is kept of this device is among them */
};

/* The wire form of a unit for this device, released with free(): the reference gets the program as written, all others
 * the legalised one. Errors: what the legaliser refuses; PC5218. */
pctl_status pctl_session_wire(pctl_session *s, const pctl_kernel_module *unit,
			      const pctl_call *call, uint8_t **wire, uint64_t *n);

#endif
