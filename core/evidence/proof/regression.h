/* One counterexample kept, as a line of text: SUBJECT<TAB>LAW<TAB>INPUTS. LAW is pctl_counterexample.law ("parity", an
 * equation, an invariant), INPUTS its inputs. */
#ifndef PIPECTL_EVIDENCE_PROOF_REGRESSION_H
#define PIPECTL_EVIDENCE_PROOF_REGRESSION_H

#include "evidence/proof/proof.h"
#include "foundation/record/record.h"

typedef struct pctl_regression {
	char subject[128];
	char law[256];
	char inputs[256];
} pctl_regression;
extern const pctl_record_type pctl_regression_type;

/* 1 and *out when line (without its end) has these three fields, none empty nor too long. */
int pctl_regression_parse(const char *line, pctl_regression *out);
/* The line, without its end; out holds PCTL_REGRESSION_LINE bytes. 0 when a field is empty, too long, or has a tab or
 * a newline in it. */
#define PCTL_REGRESSION_LINE 640u
int pctl_regression_format(const char *subject, const pctl_counterexample *c,
			   char out[PCTL_REGRESSION_LINE]);

/* Inputs of an op as bits: exactly n hexadecimal values, parted by single spaces, that fit n_bytes each. 1 on success.
 */
int pctl_regression_values(const char *inputs, uint32_t n, uint64_t n_bytes, uint8_t (*out)[16]);
/* And back: "0x00000001 0xffffffff" into out. */
void pctl_regression_print(const uint8_t (*values)[16], uint32_t n, uint64_t n_bytes, char *out,
			   size_t n_out);

#endif
