/* The report of a dispute: what others act on, signed. */
#include <stddef.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/dispute.h"
#include "runtime/cas/codings.h"

#define SIDE(member) offsetof(pctl_dispute_claim, member)
static const pctl_record_field side_fields[] = {
	PCTL_RECORD_FIELD(CODED, "receipt", pctl_dispute_claim, receipt, .coding = &pctl_cid_coding,
			  .means = "of its bytes"),
	PCTL_RECORD_FIELD(TEXT, "signer", pctl_dispute_claim, signer, .means = "who signed it"),
	PCTL_RECORD_FIELD(BOOL, "wrong", pctl_dispute_claim, wrong, .means = "is it wrong"),
	PCTL_RECORD_FIELD(TEXT, "claimed", pctl_dispute_claim, claimed,
			  .means = "what it says of the place"),
	PCTL_RECORD_FIELD(TEXT, "detail", pctl_dispute_claim, detail,
			  .means = "the first byte that differs, where it is known")};
static const pctl_record_shape side =
	PCTL_RECORD_SHAPE(side_fields, PCTL_RECORD_BLOCK, pctl_dispute_claim);

#define AT(member) offsetof(pctl_dispute_report, member)
static const pctl_record_field fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = "pipectl.dispute/1",
	 .means = "version of the format"},
	PCTL_RECORD_FIELD(TEXT, "kind", pctl_dispute_report, kind, .means = "\"run\" or \"block\""),
	PCTL_RECORD_FIELD(TEXT, "job", pctl_dispute_report, job, .means = "the job that differs"),
	PCTL_RECORD_FIELD(TEXT, "place", pctl_dispute_report, place,
			  .means = "where it differs first"),
	PCTL_RECORD_FIELD(TEXT, "reference", pctl_dispute_report, reference,
			  .means = "the device that judged"),
	PCTL_RECORD_FIELD(TEXT, "correct", pctl_dispute_report, correct, .means = "what it found"),
	PCTL_RECORD_FIELD(LIST, "receipts", pctl_dispute_report, side, .flags = PCTL_RECORD_WITHIN,
			  .n_at = AT(n_sides), .bound = 2, .of = &side,
			  .means = "the two receipts")};
static const pctl_record_shape shape =
	PCTL_RECORD_SHAPE(fields, PCTL_RECORD_BLOCK, pctl_dispute_report);
const pctl_record_type pctl_dispute_type = {
	.group = "dispute",
	.opening = "// Two receipts of one question that differ, and who is wrong.\n",
	.shape = &shape,
	.form = PC5901_RECEIPT_FORM,
	.contradicts = PC5902_RECEIPT_CONTRADICTS,
	.title = "Report of a dispute",
	.where = "Written for others, who act on it; signed",
};

pctl_status pctl_dispute_report_text(const pctl_dispute_report *r, const pctl_signer *signer,
				     const pctl_call *call, pctl_str_buf *out)
{
	pctl_record_text(&pctl_dispute_type, r, out);
	return pctl_signer_seal(signer, out, call);
}
