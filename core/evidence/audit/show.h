/* What a report says in words and numbers, for the page and for the terminal. */
#ifndef PIPECTL_EVIDENCE_AUDIT_SHOW_H
#define PIPECTL_EVIDENCE_AUDIT_SHOW_H

#include "evidence/audit/audit.h"
#include "foundation/svg/amount.h"

/* An element in decimal, as its dtype reads it, and its bits in hexadecimal digits of their width. */
const char *pctl_show_value(uint32_t dtype, uint64_t bits, char out[PCTL_SHOWN]);
const char *pctl_show_bits(uint32_t element_bytes, uint64_t bits, char out[PCTL_SHOWN]);
const char *pctl_show_outcome(uint32_t outcome);
const char *pctl_show_verdict(uint32_t verdict); /* of pctl_audit_verdict, in a word or two */
/* "f32[1024]" or "bytes"; out has PCTL_SHOWN_TYPE bytes. */
#define PCTL_SHOWN_TYPE 256u
const char *pctl_show_type(const pctl_tensor_type *t, char out[PCTL_SHOWN_TYPE]);
/* Bits of the exponent, 0 for what is no float. */
uint32_t pctl_exponent_bits(uint32_t dtype);
/* 1 when the cid is that of a run (all zero: it did not run). */
int pctl_has_cid(const pctl_cid *cid);

/* How many different CIDs the runs of an output gave: native 0 of the strict runs, 1 of the native ones. */
uint32_t pctl_count_cids(const pctl_audit_result *r, uint32_t cell, int native);

/* The group of a run's outcome; of an audit of natives 0 is that of the strict runs, and natives follow. */
uint32_t pctl_cid_group(const pctl_audit_result *r, uint32_t cell, uint32_t slot);

/* Device of a result by number; never NULL-stringed. */
const char *pctl_device_selector(const pctl_audit_result *r, uint32_t device);

#endif
