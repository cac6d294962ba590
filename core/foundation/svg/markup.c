/* Implementation of markup.h. */
#include "foundation/svg/markup.h"

#include <string.h>

#include "foundation/base/utf8.h"

/* XML has no U+FFFE and U+FFFF. */
static size_t sequence(const char *text)
{
	uint32_t point;
	const size_t n = pctl_utf8_decode(text, strlen(text), &point);

	return point == 0xfffe || point == 0xffff ? 0 : n;
}

void pctl_html_text(pctl_str_buf *s, const char *text)
{
	const char *at = text;

	while (at != NULL && *at != '\0') {
		const size_t n = sequence(at);

		if (n == 0)
			pctl_str_add(s, "\xef\xbf\xbd");
		else if (n > 1)
			pctl_str_add_n(s, at, n);
		else if (*at == '&')
			pctl_str_add(s, "&amp;");
		else if (*at == '<')
			pctl_str_add(s, "&lt;");
		else if (*at == '>')
			pctl_str_add(s, "&gt;");
		else if (*at == '"')
			pctl_str_add(s, "&quot;");
		else if (*at == '\'')
			pctl_str_add(s, "&#39;");
		else if (((unsigned char)*at < 0x20 && *at != '\n') || *at == 0x7f)
			pctl_str_add(s, " ");
		else
			pctl_str_add_n(s, at, 1);
		at += n == 0 ? 1 : n;
	}
}
