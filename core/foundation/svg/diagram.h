/* A graph without cycles as one SVG: boxes in layers from left to right, each right of all that leads to it, with lines of text
 * that fit their box. The same graph gives the same bytes. */
#ifndef PIPECTL_FOUNDATION_SVG_DIAGRAM_H
#define PIPECTL_FOUNDATION_SVG_DIAGRAM_H

#include "foundation/base/str.h"
#include "pipectl/host.h"

#define PCTL_DIAGRAM_BOXES 400u /* that are drawn; one more says how many are not */
#define PCTL_DIAGRAM_LINES 16u	/* of a box; what is longer is cut */
#define PCTL_DIAGRAM_CELLS \
	32u /* of a line, the width of a letter each; a longer one is cut in its middle */

enum { PCTL_DIAGRAM_WORK = 0, PCTL_DIAGRAM_DATA = 1 };

/* lines: texts of anyone, the first is the heading; a line feed ends one. kind: PCTL_DIAGRAM_* */
typedef struct pctl_diagram_box {
	const char *lines;
	uint32_t kind, reserved;
} pctl_diagram_box;

/* From one box to another, by number; what names none, or leads to itself, is not drawn. */
typedef struct pctl_diagram_edge {
	uint32_t from, to;
} pctl_diagram_edge;

typedef struct pctl_diagram {
	const char *title;
	const pctl_diagram_box *boxes;
	const pctl_diagram_edge *edges;
	uint32_t n_boxes, n_edges;
} pctl_diagram;

/* Append the picture. Of more boxes than are drawn the first are. Errors: PC0002, PC0001 (a cycle). */
pctl_status pctl_diagram_svg(const pctl_diagram *d, const pctl_call *call, pctl_str_buf *out);

#endif
