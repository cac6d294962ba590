/* Lines of kept counterexamples. */
#include "evidence/proof/regression.h"

#include <stdio.h>
#include <string.h>

#include "foundation/base/hex.h"

#define FIELD(M, MEANS) PCTL_RECORD_SIZED(CHARS, #M, pctl_regression, M, .least = 1, .means = MEANS)
static const pctl_record_field fields[] = {FIELD(subject, "op and type, or a part of the engine"),
					   FIELD(law, "\"parity\", an equation, an invariant"),
					   FIELD(inputs, "of the counterexample")};
static const pctl_record_shape row =
	PCTL_RECORD_OF_LINES(fields, PCTL_RECORD_ROW, '\t', pctl_regression);
const pctl_record_type pctl_regression_type = {
	.opening = "",
	.shape = &row,
	.quoting = PCTL_RECORD_PLAIN,
	.form = PC5507_REGRESSION,
	.contradicts = PC5507_REGRESSION,
	.title = "Kept counterexample",
	.where =
		"A line of `regressions.tsv`; what begins with `#` and empty lines are passed over",
};

int pctl_regression_parse(const char *line, pctl_regression *out)
{
	memset(out, 0, sizeof(*out));
	return strpbrk(line, "\r\n") == NULL &&
	       pctl_record_read(&pctl_regression_type, "a line", line, strlen(line), NULL, NULL,
				out) == PCTL_OK;
}

int pctl_regression_format(const char *subject, const pctl_counterexample *c,
			   char out[PCTL_REGRESSION_LINE])
{
	pctl_regression r, back;
	pctl_str_buf s = PCTL_STR_BUF_INIT;
	int good = snprintf(r.subject, sizeof(r.subject), "%s", subject) < (int)sizeof(r.subject);

	memcpy(r.law, c->law, sizeof(r.law));
	memcpy(r.inputs, c->inputs, sizeof(r.inputs));
	pctl_record_text(&pctl_regression_type, &r, &s);
	good = good && !s.failed && s.n < PCTL_REGRESSION_LINE &&
	       pctl_regression_parse(s.data, &back);
	if (good)
		memcpy(out, s.data, s.n + 1);
	pctl_str_drop(&s);
	return good;
}

/* One value of n digits. */
static int value_of(const char *digits, size_t n, uint64_t n_bytes, uint8_t out[16])
{
	memset(out, 0, 16);
	if (n == 0 || n > 2 * n_bytes || n > 32)
		return 0;
	for (size_t i = 0; i < n; i++) {
		const int d = pctl_hex_digit(digits[n - 1 - i]);

		if (d < 0)
			return 0;
		out[i / 2] |= (uint8_t)(d << (i % 2 * 4));
	}
	return 1;
}

int pctl_regression_values(const char *inputs, uint32_t n, uint64_t n_bytes, uint8_t (*out)[16])
{
	for (uint32_t i = 0; i < n; i++) {
		size_t length;

		if (strncmp(inputs, "0x", 2) != 0)
			return 0;
		length = strcspn(inputs + 2, " ");
		if (!value_of(inputs + 2, length, n_bytes, out[i]))
			return 0;
		inputs += 2 + length;
		if (i + 1 < n && *inputs++ != ' ')
			return 0;
	}
	return *inputs == '\0';
}

void pctl_regression_print(const uint8_t (*values)[16], uint32_t n, uint64_t n_bytes, char *out,
			   size_t n_out)
{
	size_t at = 0;

	out[0] = '\0';
	for (uint32_t i = 0; i < n && at + 2 * n_bytes + 4 < n_out; i++) {
		at += (size_t)snprintf(out + at, n_out - at, "%s0x", i == 0 ? "" : " ");
		pctl_hex_print_number(values[i], n_bytes, out + at);
		at += 2 * n_bytes;
	}
}
