/* Numbers as text in the "C" locale, whatever locale the program or its thread has set. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "foundation/base/num.h"

locale_t pctl_num_locale(void)
{
	static _Atomic(locale_t) made;
	locale_t had = atomic_load(&made);

	if (had == (locale_t)0) {
		const locale_t fresh = newlocale(LC_ALL_MASK, "C", (locale_t)0);

		/* Of two threads that come first the other one's stands. */
		if (fresh == (locale_t)0 || atomic_compare_exchange_strong(&made, &had, fresh))
			return fresh;
		freelocale(fresh);
	}
	return had;
}

double pctl_num_parse_double(const char *text, char **end)
{
	const locale_t c = pctl_num_locale();

	return c == (locale_t)0 ? strtod(text, end) : strtod_l(text, end, c);
}

int pctl_num_vprint(char *out, size_t n, const char *fmt, va_list args)
{
	const locale_t c = pctl_num_locale();
	const locale_t before = c == (locale_t)0 ? c : uselocale(c);
	const int length = vsnprintf(out, n, fmt, args);

	if (before != (locale_t)0)
		uselocale(before);
	return length;
}

int pctl_num_print(char *out, size_t n, const char *fmt, ...)
{
	va_list args;
	int length;

	va_start(args, fmt);
	length = pctl_num_vprint(out, n, fmt, args);
	va_end(args);
	return length;
}
