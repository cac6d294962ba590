/* The plots of a report as inline SVG, besides bars: a histogram of ULP, a strip that shows where a buffer differs, and bit
 * patterns side by side. Colours are classes that the page's style gives values to; every plot carries its text
 * alternative. The same arguments give the same bytes. */
#ifndef PIPECTL_EVIDENCE_AUDIT_SVG_H
#define PIPECTL_EVIDENCE_AUDIT_SVG_H

#include "evidence/audit/drift.h"
#include "foundation/svg/markup.h"
#include "foundation/svg/plot.h"

/* Elements by their distance, a bar a power of two, the count on a logarithmic axis. */
void pctl_svg_histogram(pctl_str_buf *s, const uint64_t counts[PCTL_DRIFT_BUCKETS],
			const char *title);

/* A buffer from its first to its last element in 256 parts: above the share of elements that differ, below the largest
 * distance on a logarithmic axis (left out for integers, when all are 0). */
void pctl_svg_strip(pctl_str_buf *s, const pctl_audit_drift *d, const char *title);

/*
 * Two bit patterns as boxes, the highest bit first, 32 a line; what differs is filled, outlined and marked with a wedge.
 *
 * n_bits    8, 16, 32, 64
 * exponent  bits of the exponent, 0: the pattern is no float
 */
void pctl_svg_bits(pctl_str_buf *s, uint64_t got, uint64_t want, uint32_t n_bits, uint32_t exponent,
		   const char *title);

#endif
