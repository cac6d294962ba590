/* Pages: what audits and runs write for people. One file without script, nothing from elsewhere, light and dark, for print
 * and for a phone; well-formed XML as well as HTML. Every text from outside goes through pctl_html_text. */
#ifndef PIPECTL_FOUNDATION_SVG_PAGE_H
#define PIPECTL_FOUNDATION_SVG_PAGE_H

#include "foundation/svg/markup.h"

/* The style sheet, in pieces, ended by NULL. */
extern const char *const pctl_html_style[];

/* All up to the first section, for which body and main are open. title: `what` as it stands ("Audit of "), then `name` made
 * safe. style: rules of this page alone, or NULL. */
void pctl_html_head(pctl_str_buf *s, const char *generator, const char *what, const char *name,
		    const char *style);

/* `before`, the text made safe, `after`; NULL text: "none". */
void pctl_html_wrap(pctl_str_buf *s, const char *before, const char *text, const char *after);
/* A section's heading with its anchor, and a sentence below it (NULL: none). */
void pctl_html_heading(pctl_str_buf *s, const char *anchor, const char *title, const char *about);

#endif
