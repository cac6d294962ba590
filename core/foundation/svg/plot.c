/* Implementation of plot.h. All coordinates are whole numbers, so that no rounding shows. */
#include "foundation/svg/plot.h"

#include <inttypes.h>

#include "foundation/svg/markup.h"

void pctl_svg_open(pctl_str_buf *s, const char *style, uint32_t width, uint32_t height,
		   const char *title)
{
	pctl_str_addf(s,
		      "<div class=\"plot\"><svg class=\"%s\" style=\"max-width:%" PRIu32
		      "px\" viewBox=\"0 0 %" PRIu32 " %" PRIu32 "\" role=\"img\" aria-label=\"",
		      style, width, width, height);
	pctl_html_text(s, title);
	pctl_str_add(s, "\">\n<title>");
	pctl_html_text(s, title);
	pctl_str_add(s, "</title>\n");
}

void pctl_svg_close(pctl_str_buf *s)
{
	pctl_str_add(s, "</svg></div>\n");
}

void pctl_svg_label(pctl_str_buf *s, uint32_t x, uint32_t y, const char *anchor, const char *style,
		    const char *text)
{
	pctl_str_addf(s,
		      "<text x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" text-anchor=\"%s\" class=\"%s\">",
		      x, y, anchor, style);
	pctl_html_text(s, text);
	pctl_str_add(s, "</text>\n");
}

/* ---- bars --------------------------------------------------------------------------------------- */

#define BAR_LABEL 170u
#define BAR_LENGTH 330u
#define BAR_SHOWN 140u
#define BAR_HEIGHT 22u

void pctl_svg_bars(pctl_str_buf *s, const pctl_svg_bar *bars, uint32_t n, const char *title)
{
	double longest = 0;

	for (uint32_t i = 0; i < n; i++)
		longest = bars[i].value > longest ? bars[i].value : longest;
	pctl_svg_open(s, "bars", BAR_LABEL + BAR_LENGTH + BAR_SHOWN, n * BAR_HEIGHT + 4, title);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t y = i * BAR_HEIGHT + 2;
		uint32_t length = longest > 0 && bars[i].value > 0
					  ? (uint32_t)(bars[i].value / longest * BAR_LENGTH + 0.5)
					  : 0;

		if (length == 0 && bars[i].value > 0)
			length = 1;
		pctl_svg_label(s, BAR_LABEL - 8, y + 15, "end", "axis", bars[i].label);
		pctl_str_addf(s,
			      "<rect x=\"%u\" y=\"%" PRIu32 "\" width=\"%" PRIu32
			      "\" height=\"%u\" rx=\"2\" class=\"%s\"/>\n",
			      BAR_LABEL, y + 3, length, BAR_HEIGHT - 7, bars[i].style);
		pctl_svg_label(s, BAR_LABEL + length + 6, y + 15, "start", "value", bars[i].shown);
	}
	pctl_svg_close(s);
}
