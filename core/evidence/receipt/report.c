/* The report of a dispute: what others act on, signed. */
#include "foundation/diag/diag.h"
#include "evidence/receipt/dispute.h"
#include "evidence/receipt/form.h"

#define OPENING "// Two receipts of one question that differ, and who is wrong.\ndispute : {\n"

pctl_status pctl_dispute_report_text(const pctl_dispute_report *r, const pctl_signer *signer,
				     const pctl_call *call, pctl_str_buf *out)
{
	pctl_str_add(out, OPENING);
	pctl_form_string(out, "  ", "schema", "pipectl.dispute/1");
	pctl_form_string(out, "  ", "kind", r->kind);
	pctl_form_string(out, "  ", "job", r->job);
	pctl_form_string(out, "  ", "place", r->place);
	pctl_form_string(out, "  ", "reference", r->reference);
	pctl_form_string(out, "  ", "correct", r->correct);
	pctl_str_add(out, "  receipts : (");
	for (uint32_t i = 0; i < 2; i++) {
		pctl_str_add(out, i == 0 ? "\n    {\n" : ",\n    {\n");
		pctl_form_cid(out, "      ", "receipt", &r->receipt[i]);
		pctl_form_string(out, "      ", "signer", r->signer[i]);
		pctl_str_addf(out, "      wrong = %s;\n", r->wrong[i] ? "true" : "false");
		pctl_form_string(out, "      ", "claimed", r->claimed[i]);
		pctl_form_string(out, "      ", "detail", r->detail[i]);
		pctl_str_add(out, "    }");
	}
	pctl_str_add(out, " );\n};\n");
	return pctl_signer_seal(signer, out, call);
}
