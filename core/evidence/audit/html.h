/* The page of a report, taken apart into its sections; private to html*.c and report.c. Every text from outside goes
 * through pctl_html_text. The page is well-formed XML as well as HTML, holds no script, and depends on nothing but the
 * result: the same result gives the same bytes. */
#ifndef PIPECTL_EVIDENCE_AUDIT_HTML_H
#define PIPECTL_EVIDENCE_AUDIT_HTML_H

#include "evidence/audit/show.h"
#include "evidence/audit/svg.h"
#include "foundation/svg/page.h"

typedef struct pctl_page {
	pctl_str_buf s;
	const pctl_audit_result *r;
	const char *command;
} pctl_page;

/* The whole page; s: an empty buffer that is filled. */
void pctl_html_page(pctl_str_buf *s, const pctl_audit_result *r, const char *command);

/* Sections, in the order of the page; each adds nothing when it has nothing to say. */
void pctl_html_contrast(pctl_page *p); /* natives: strict beside native */
void pctl_html_matrix(pctl_page *p);
void pctl_html_divergences(pctl_page *p);
void pctl_html_drift(pctl_page *p);
void pctl_html_forms(pctl_page *p);
void pctl_html_times(pctl_page *p);

/* A CID as its last 8 characters with the whole as title, in the colour and with the letter of its group. */
void pctl_html_cid(pctl_page *p, const pctl_cid *cid, uint32_t group);
/* "A" for group 0; "?" past "Z". */
char pctl_html_letter(uint32_t group);

#endif
