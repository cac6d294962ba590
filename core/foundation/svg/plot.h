/* Plots of numbers inside a page (page.h): what every plot begins and ends with, and bars. Colours are classes that the page's
 * style gives values to; every plot carries its text alternative. The same arguments give the same bytes. */
#ifndef PIPECTL_FOUNDATION_SVG_PLOT_H
#define PIPECTL_FOUNDATION_SVG_PLOT_H

#include <stdint.h>

#include "foundation/base/str.h"

/* A plot of class `style`, no wider on a screen than its own width; what is drawn in it stands between open and close. */
void pctl_svg_open(pctl_str_buf *s, const char *style, uint32_t width, uint32_t height,
		   const char *title);
void pctl_svg_close(pctl_str_buf *s);
/* A line of text; anchor: "start", "middle", "end". */
void pctl_svg_label(pctl_str_buf *s, uint32_t x, uint32_t y, const char *anchor, const char *style,
		    const char *text);

/* One bar: `value` of what the longest bar has; `shown` stands behind it. style: class of the bar. */
typedef struct pctl_svg_bar {
	const char *label, *shown, *style;
	double value;
} pctl_svg_bar;

/* Horizontal bars one below the other; lengths are linear and start at 0. */
void pctl_svg_bars(pctl_str_buf *s, const pctl_svg_bar *bars, uint32_t n, const char *title);

#endif
