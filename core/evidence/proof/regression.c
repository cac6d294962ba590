/* Lines of kept counterexamples. */
#include "evidence/proof/regression.h"

#include <stdio.h>
#include <string.h>

#include "foundation/base/hex.h"

static int take(const char **at, char end, char *out, size_t n)
{
	const char *stop = strchr(*at, end);
	const size_t length = stop == NULL ? 0 : (size_t)(stop - *at);

	if (length == 0 || length >= n)
		return 0;
	memcpy(out, *at, length);
	out[length] = '\0';
	*at = stop + (end != '\0');
	return 1;
}

int pctl_regression_parse(const char *line, pctl_regression *out)
{
	memset(out, 0, sizeof(*out));
	return strpbrk(line, "\r\n") == NULL &&
	       take(&line, '\t', out->subject, sizeof(out->subject)) &&
	       take(&line, '\t', out->law, sizeof(out->law)) &&
	       take(&line, '\0', out->inputs, sizeof(out->inputs)) &&
	       strchr(out->inputs, '\t') == NULL;
}

int pctl_regression_format(const char *subject, const pctl_counterexample *c,
			   char out[PCTL_REGRESSION_LINE])
{
	pctl_regression back;
	const int n = snprintf(out, PCTL_REGRESSION_LINE, "%s\t%s\t%s", subject, c->law, c->inputs);

	return n > 0 && n < (int)PCTL_REGRESSION_LINE && pctl_regression_parse(out, &back) &&
	       strcmp(back.subject, subject) == 0 && strcmp(back.law, c->law) == 0;
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
