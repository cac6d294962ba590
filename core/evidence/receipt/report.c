/* The report of a dispute: what others act on, signed. */
#include <stddef.h>

#include "foundation/diag/diag.h"
#include "evidence/receipt/dispute.h"
#include "runtime/cas/codings.h"

#define SIDE(member) offsetof(pctl_dispute_claim, member)
static const pctl_record_field side_fields[] = {
	{.key = "receipt",
	 .kind = PCTL_RECORD_CODED,
	 .at = SIDE(receipt),
	 .coding = &pctl_cid_coding,
	 .means = "of its bytes"},
	{.key = "signer", .kind = PCTL_RECORD_TEXT, .at = SIDE(signer), .means = "who signed it"},
	{.key = "wrong", .kind = PCTL_RECORD_BOOL, .at = SIDE(wrong), .means = "is it wrong"},
	{.key = "claimed",
	 .kind = PCTL_RECORD_TEXT,
	 .at = SIDE(claimed),
	 .means = "what it says of the place"},
	{.key = "detail",
	 .kind = PCTL_RECORD_TEXT,
	 .at = SIDE(detail),
	 .means = "the first byte that differs, where it is known"}};
static const pctl_record_shape side =
	PCTL_RECORD_SHAPE(side_fields, PCTL_RECORD_BLOCK, pctl_dispute_claim);

#define AT(member) offsetof(pctl_dispute_report, member)
static const pctl_record_field fields[] = {
	{.key = "schema",
	 .kind = PCTL_RECORD_CONSTANT,
	 .constant = "pipectl.dispute/1",
	 .means = "version of the format"},
	{.key = "kind", .kind = PCTL_RECORD_TEXT, .at = AT(kind), .means = "\"run\" or \"block\""},
	{.key = "job", .kind = PCTL_RECORD_TEXT, .at = AT(job), .means = "the job that differs"},
	{.key = "place",
	 .kind = PCTL_RECORD_TEXT,
	 .at = AT(place),
	 .means = "where it differs first"},
	{.key = "reference",
	 .kind = PCTL_RECORD_TEXT,
	 .at = AT(reference),
	 .means = "the device that judged"},
	{.key = "correct", .kind = PCTL_RECORD_TEXT, .at = AT(correct), .means = "what it found"},
	{.key = "receipts",
	 .kind = PCTL_RECORD_LIST,
	 .flags = PCTL_RECORD_WITHIN,
	 .at = AT(side),
	 .n_at = AT(n_sides),
	 .bound = 2,
	 .of = &side,
	 .means = "the two receipts"}};
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
