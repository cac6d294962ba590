/* How far one run of an output went from another: which elements differ, by how much, and where. Floats are measured in
 * units in the last place on ordered bits, integers and bytes are only counted. Pieces may be passed one after another, so
 * that outputs of any size need constant memory. */
#ifndef PIPECTL_EVIDENCE_AUDIT_DRIFT_H
#define PIPECTL_EVIDENCE_AUDIT_DRIFT_H

#include "evidence/audit/audit.h"

#define PCTL_DRIFT_STRIP 256u
#define PCTL_DRIFT_BUCKETS 33u

/* Bits of a float as a number that grows with its value: neighbours are 1 apart, -0 and +0 too. 0 for what is no float.
 */
uint64_t pctl_drift_ordered(uint32_t dtype, uint64_t bits);
/*
 * ULP between two elements of a float dtype, 0 exactly when the bits are equal. A NaN against a number is the most the
 * type has (65535, 2^32 - 1, 2^64 - 1); two NaNs with different bits are 1 apart.
 */
uint64_t pctl_drift_ulp(uint32_t dtype, uint64_t got, uint64_t want);
/* 1 for f16, bf16, f32 and f64. */
int pctl_drift_is_float(uint32_t dtype);
int pctl_drift_is_nan(uint32_t dtype, uint64_t bits);
/* The value of an element's bits, exact for every dtype but 64-bit integers. */
double pctl_drift_value(uint32_t dtype, uint64_t bits);

/* A comparison under way; everything in it is private. */
typedef struct pctl_drift {
	pctl_audit_drift d;
	uint64_t n_bytes, at; /* of the whole, passed so far */
	uint64_t sum_low, sum_high, n_summed;
	uint64_t different[PCTL_DRIFT_STRIP];
	uint32_t dtype, element_bytes;
} pctl_drift;

/*
 * begin, then add until n_bytes were passed (each piece but the last a multiple of 16 bytes), then end, which fills
 * n_elements, n_different, first, the values there, ulp, histogram and strip of *out and leaves device, job and the CIDs
 * alone. dtype 0: bytes. mean_ulp is over elements in which no NaN met a number.
 */
void pctl_drift_begin(pctl_drift *s, uint32_t dtype, uint64_t n_bytes);
void pctl_drift_add(pctl_drift *s, const void *got, const void *want, uint64_t n);
void pctl_drift_end(pctl_drift *s, pctl_audit_drift *out);
/* All at once. */
void pctl_drift_compare(const void *got, const void *want, uint64_t n_bytes, uint32_t dtype,
			pctl_audit_drift *out);

#endif
