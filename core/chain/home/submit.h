/* A shader and a job as somebody wrote them, in any order and by names, as the messages that are taken in; and what is read back. */
#ifndef PIPECTL_CHAIN_HOME_SUBMIT_H
#define PIPECTL_CHAIN_HOME_SUBMIT_H

#include "chain/blocks/block.h"
#include "chain/home/home.h"

/* Upload a shader. Texts that are NULL are not given; tags come in any order, and one given twice counts once. Errors: of
 * taking in. `out` is released with pctl_response_destroy, also after an error. */
pctl_status pctl_home_upload(pctl_chain *c, const pctl_msg_upload *given, const pctl_call *call,
			     pctl_response *out);

/*
 * shader          CID or alias
 * input           as pctl_msg_execute
 * entry, uniform  a name, a CID; NULL: not given
 * document        n_document bytes of CBOR that go into the store and stand in for `uniform`; NULL: none
 * bindings, parents, after, overrides  in any order
 */
typedef struct pctl_home_job {
	const char *sender, *shader, *input, *entry, *uniform;
	const void *document;
	uint64_t n_document;
	uint32_t dispatch[3], n_bindings;
	uint64_t gas_limit, parent_clock, output_bytes, tip;
	const pctl_msg_binding *bindings;
	const char *const *parents, *const *after;
	const pctl_setting *overrides;
	uint32_t n_parents, n_after, n_overrides, reserved;
} pctl_home_job;

/* Submit it. `out` is the row of the job, cleared with pctl_chain_job_clear. Errors: PC5822 (no such alias), of the
 * store, of reading overrides, of taking in. */
pctl_status pctl_home_submit_job(pctl_installation *in, pctl_chain *c, const pctl_home_job *given,
				 const pctl_call *call, pctl_chain_job *out);

/* A job by its id, as text with or without "job:" before it, and its row with the status as people see it
 * (pctl_chain_job_status). PC5801. */
pctl_status pctl_home_job_id(const char *text, const pctl_call *call,
			     uint8_t out[PCTL_DIGEST_BYTES]);
pctl_status pctl_home_job_read(pctl_chain *c, const char *id, const pctl_call *call,
			       pctl_chain_job *out);

/* A finished block; height 0: the last one. PC5852. */
pctl_status pctl_home_block(pctl_chain *c, uint64_t height, const pctl_call *call,
			    pctl_block_row *out);

#endif
