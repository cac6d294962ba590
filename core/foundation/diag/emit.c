/* Emitting diagnostics into a call's sink: the part of core/foundation/diag that plugins link too. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "foundation/base/num.h"
#include "pipectl/host.h"

pctl_status pctl_emit(const pctl_call *call, const pctl_diag *d)
{
	if (call != NULL && call->diag != NULL)
		call->diag(call->ctx, d);
	return d->severity == PCTL_SEVERITY_ERROR ? pctl_code_status(d->code) : PCTL_OK;
}

static pctl_status emit_formatted(const pctl_call *call, uint32_t severity, uint32_t code,
				  const pctl_pos *pos, const char *hint, const char *fmt,
				  va_list args)
{
	char fixed[512], *text = fixed;
	pctl_diag d = {.head = PCTL_HEAD(pctl_diag)};
	pctl_status status;
	va_list again;
	int n;

	va_copy(again, args);
	n = pctl_num_vprint(fixed, sizeof(fixed), fmt, args);
	if (n >= (int)sizeof(fixed)) {
		text = malloc((size_t)n + 1);
		if (text == NULL)
			text = fixed; /* the shortened text is better than none */
		else
			pctl_num_vprint(text, (size_t)n + 1, fmt, again);
	}
	va_end(again);
	d.code = code;
	d.severity = severity;
	if (pos != NULL)
		d.pos = *pos;
	d.message = text;
	d.hint = hint;
	status = pctl_emit(call, &d);
	if (text != fixed)
		free(text);
	return status;
}

pctl_status pctl_refuse(const pctl_call *call, uint32_t code, const char *fmt, ...)
{
	va_list args;
	pctl_status status;

	va_start(args, fmt);
	status = emit_formatted(call, PCTL_SEVERITY_ERROR, code, NULL, NULL, fmt, args);
	va_end(args);
	return status;
}

pctl_status pctl_no_memory(const pctl_call *call, const char *what)
{
	return pctl_refuse(call, PC2_NOMEM, "no memory for %s", what);
}

pctl_status pctl_refuse_at(const pctl_call *call, uint32_t code, const pctl_pos *pos,
			   const char *hint, const char *fmt, ...)
{
	va_list args;
	pctl_status status;

	va_start(args, fmt);
	status = emit_formatted(call, PCTL_SEVERITY_ERROR, code, pos, hint, fmt, args);
	va_end(args);
	return status;
}

void pctl_warn_at(const pctl_call *call, uint32_t code, const pctl_pos *pos, const char *hint,
		  const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)emit_formatted(call, PCTL_SEVERITY_WARNING, code, pos, hint, fmt, args);
	va_end(args);
}

uint32_t pctl_is_cancelled(const pctl_call *call)
{
	return call != NULL && call->cancelled != NULL ? call->cancelled(call->ctx) : 0;
}
