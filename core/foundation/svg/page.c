/* Implementation of page.h. */
#include "foundation/svg/page.h"

#include <stddef.h>

void pctl_html_wrap(pctl_str_buf *s, const char *before, const char *text, const char *after)
{
	pctl_str_add(s, before);
	pctl_html_text(s, text == NULL ? "none" : text);
	pctl_str_add(s, after);
}

void pctl_html_heading(pctl_str_buf *s, const char *anchor, const char *title, const char *about)
{
	pctl_str_addf(s, "<h2 id=\"%s\">", anchor);
	pctl_html_wrap(s, "", title, "</h2>\n");
	if (about != NULL)
		pctl_html_wrap(s, "<p class=\"about\">", about, "</p>\n");
}

void pctl_html_head(pctl_str_buf *s, const char *generator, const char *what, const char *name,
		    const char *style)
{
	pctl_str_addf(s,
		      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
		      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		      "<meta name=\"generator\" content=\"%s\"/>\n<title>%s",
		      generator, what);
	pctl_html_wrap(s, "", name, "</title>\n<style>\n");
	for (uint32_t i = 0; pctl_html_style[i] != NULL; i++)
		pctl_str_add(s, pctl_html_style[i]);
	if (style != NULL)
		pctl_str_add(s, style);
	pctl_str_add(s, "</style>\n</head>\n<body>\n<main>\n");
}
