/* What is said where an assertion of a plan does not hold. */
#include <inttypes.h>
#include <string.h>

#include "foundation/base/str.h"
#include "runtime/exec/job.h"

/* The message with what stands for numbers filled in. */
static void fill_in(const pctl_plan_check *c, uint64_t found, uint64_t also, pctl_str_buf *text)
{
	const int64_t as_signed = c->also_bytes == 4 ? (int32_t)(uint32_t)also : (int64_t)also;

	for (const char *at = c->message; *at != '\0';) {
		const size_t n = strcspn(at, "%");
		const char mark = at[n] == '\0' ? '\0' : at[n + 1];

		pctl_str_add_n(text, at, n);
		at += n;
		if (mark == 'v')
			pctl_str_addf(text, "%" PRIu64, found);
		else if (mark == 'u' && c->also_bytes != 0)
			pctl_str_addf(text, "%" PRIu64, also);
		else if (mark == 'i' && c->also_bytes != 0)
			pctl_str_addf(text, "%" PRId64, as_signed);
		else if (*at != '\0')
			pctl_str_add_n(text, at, mark == '\0' ? 1 : 2);
		at += *at == '\0' ? 0 : mark == '\0' ? 1 : 2;
	}
}

pctl_status pctl_job_refuse_check(const pctl_job_plan *plan, const pctl_plan_check *c,
				  uint64_t found, uint64_t also, const pctl_call *call)
{
	pctl_str_buf text = PCTL_STR_BUF_INIT;
	pctl_status status;

	fill_in(c, found, also, &text);
	status = pctl_refuse(call, PC5205_JOB_FAILED, "job \"%s\" failed: %s", plan->name,
			     text.data == NULL ? c->message : text.data);
	pctl_str_drop(&text);
	return status;
}
