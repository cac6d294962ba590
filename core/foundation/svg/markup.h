/* Text from outside in XML and HTML. */
#ifndef PIPECTL_FOUNDATION_SVG_MARKUP_H
#define PIPECTL_FOUNDATION_SVG_MARKUP_H

#include "foundation/base/str.h"

/* Text made safe for element content and for attributes in double quotes: & < > " ' as entities, what is no UTF-8 as
 * U+FFFD, control characters as spaces. NULL adds nothing. */
void pctl_html_text(pctl_str_buf *s, const char *text);

#endif
