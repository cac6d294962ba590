/* Implementation of diagram.h. Layers are longest paths; within a layer boxes stand by the middle of what leads to them, then by
 * number. Letters are as wide as the widest that a monospaced font of this size has, so that lines fit without measuring. */
#include "foundation/svg/diagram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/base/utf8.h"
#include "foundation/diag/diag.h"
#include "foundation/svg/markup.h"

#define CELL 8u	  /* of a letter of 12 pixels */
#define LINE 16u  /* from one line of text to the next */
#define INSIDE 8u /* between a box and its text */
#define BELOW 18u /* between boxes of a layer */
#define BESIDE 56u
#define EDGE 20u /* of the picture */

struct place {
	uint32_t layer, row, width, height, x, y, n_lines;
	uint64_t middle; /* of what leads to it, in the layer before */
};

struct layer {
	uint32_t n, width, height, x, at; /* at: of its first box in `order` */
};

typedef struct drawing {
	const pctl_diagram *d;
	uint32_t n, n_layers, width, height;
	struct place *places;
	struct layer *layers;
	uint32_t *order;
	pctl_str_buf *s;
} drawing;

static int is_drawn(const drawing *g, const pctl_diagram_edge *e)
{
	return e->from < g->n && e->to < g->n && e->from != e->to;
}

/* ---- lines that fit ----------------------------------------------------------------------- */

/* Cells that a code point takes; scripts with wide letters take two. */
static uint32_t cells_of(uint32_t point)
{
	return point >= 0x1100 ? 2 : 1;
}

/* Those that reverse what stands beside them, and controls, are shown as what they are: nothing to read. */
static int is_hidden(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x061c ||
	       (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
	       (point >= 0x2066 && point <= 0x2069) || point == 0xfeff;
}

/* One letter; *n: its bytes. */
static uint32_t letter(const char *text, size_t left, size_t *n)
{
	uint32_t point = 0xfffd;

	*n = pctl_utf8_decode(text, left, &point);
	if (*n == 0) {
		*n = 1;
		return 0xfffd;
	}
	return is_hidden(point) ? 0xfffd : point;
}

static uint32_t count_cells(const char *text, size_t n)
{
	uint32_t cells = 0;
	size_t step;

	for (size_t at = 0; at < n; at += step)
		cells += cells_of(letter(text + at, n - at, &step));
	return cells;
}

static void add_letters(pctl_str_buf *s, const char *text, size_t n)
{
	size_t step;

	for (size_t at = 0; at < n; at += step) {
		const uint32_t point = letter(text + at, n - at, &step);
		char one[5] = {0};

		memcpy(one, text + at, step <= 4 ? step : 4);
		pctl_html_text(s, point == 0xfffd ? "\xef\xbf\xbd" : one);
	}
}

/* Where so many cells from the left end, or so many from the right begin. */
static size_t cut_at(const char *text, size_t n, uint32_t cells, int right)
{
	uint32_t seen = 0, all = count_cells(text, n);
	size_t at = 0, step;

	while (at < n) {
		const uint32_t wide = cells_of(letter(text + at, n - at, &step));

		if (right ? all - seen <= cells : seen + wide > cells)
			break;
		seen += wide;
		at += step;
	}
	return at;
}

static void add_line(pctl_str_buf *s, const char *text, size_t n)
{
	const uint32_t half = PCTL_DIAGRAM_CELLS / 2 - 1;
	size_t right;

	if (count_cells(text, n) <= PCTL_DIAGRAM_CELLS) {
		add_letters(s, text, n);
		return;
	}
	right = cut_at(text, n, half, 1);
	add_letters(s, text, cut_at(text, n, half, 0));
	pctl_str_add(s, "\xe2\x80\xa6");
	add_letters(s, text + right, n - right);
}

/* ---- where boxes stand -------------------------------------------------------------------- */

static void measure(drawing *g, uint32_t i)
{
	struct place *p = &g->places[i];
	const char *at = g->d->boxes[i].lines;
	uint32_t most = 4;

	while (p->n_lines < PCTL_DIAGRAM_LINES) {
		const size_t n = strcspn(at, "\n");
		const uint32_t cells = count_cells(at, n);

		most = cells > most ? cells : most;
		p->n_lines++;
		if (at[n] == '\0')
			break;
		at += n + 1;
	}
	most = most > PCTL_DIAGRAM_CELLS ? PCTL_DIAGRAM_CELLS : most;
	p->width = most * CELL + 2 * INSIDE;
	p->height = p->n_lines * LINE + 2 * INSIDE;
}

/* 0: it has a cycle. */
static int find_layers(drawing *g)
{
	int moved = 1;

	for (uint32_t turn = 0; moved && turn <= g->n; turn++) {
		moved = 0;
		for (uint32_t i = 0; i < g->d->n_edges; i++) {
			const pctl_diagram_edge *e = &g->d->edges[i];

			if (!is_drawn(g, e) || g->places[e->to].layer > g->places[e->from].layer)
				continue;
			g->places[e->to].layer = g->places[e->from].layer + 1;
			moved = 1;
		}
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (g->places[i].layer >= g->n_layers)
			g->n_layers = g->places[i].layer + 1;
	return !moved;
}

/* In hundredths of a row, of all that lead here from any layer before. */
static void find_middle(drawing *g, uint32_t box)
{
	uint64_t sum = 0, n = 0;

	for (uint32_t i = 0; i < g->d->n_edges; i++) {
		const pctl_diagram_edge *e = &g->d->edges[i];

		if (e->to != box || !is_drawn(g, e))
			continue;
		sum += g->places[e->from].row;
		n++;
	}
	g->places[box].middle = n == 0 ? 0 : sum * 100 / n;
}

/* Insertion keeps the order of equals, which is that of their numbers. */
static void fill_layer(drawing *g, uint32_t l)
{
	struct layer *layer = &g->layers[l];

	layer->at = l == 0 ? 0 : g->layers[l - 1].at + g->layers[l - 1].n;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t k = layer->at + layer->n;

		if (g->places[i].layer != l)
			continue;
		find_middle(g, i);
		for (; k > layer->at && g->places[g->order[k - 1]].middle > g->places[i].middle;
		     k--)
			g->order[k] = g->order[k - 1];
		g->order[k] = i;
		layer->n++;
	}
	for (uint32_t k = 0; k < layer->n; k++) {
		struct place *p = &g->places[g->order[layer->at + k]];

		p->row = k;
		layer->width = p->width > layer->width ? p->width : layer->width;
		layer->height += p->height + (k == 0 ? 0 : BELOW);
	}
}

static void place_boxes(drawing *g)
{
	g->width = EDGE;
	for (uint32_t l = 0; l < g->n_layers; l++) {
		fill_layer(g, l);
		g->layers[l].x = g->width;
		g->width += g->layers[l].width + (l + 1 == g->n_layers ? EDGE : BESIDE);
		if (g->layers[l].height > g->height)
			g->height = g->layers[l].height;
	}
	for (uint32_t l = 0; l < g->n_layers; l++) {
		uint32_t y = EDGE + (g->height - g->layers[l].height) / 2;

		for (uint32_t k = 0; k < g->layers[l].n; k++) {
			struct place *p = &g->places[g->order[g->layers[l].at + k]];

			p->x = g->layers[l].x + (g->layers[l].width - p->width) / 2;
			p->y = y;
			y += p->height + BELOW;
		}
	}
	/* Room for the line that counts them. */
	if (g->n < g->d->n_boxes && g->width < 40 * CELL)
		g->width = 40 * CELL;
	g->height += 2 * EDGE + (g->n < g->d->n_boxes ? LINE : 0);
}

/* ---- the picture -------------------------------------------------------------------------- */

static void begin(drawing *g)
{
	pctl_str_addf(g->s,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%" PRIu32
		      "\" height=\"%" PRIu32 "\" viewBox=\"0 0 %" PRIu32 " %" PRIu32
		      "\" role=\"img\">\n<title>",
		      g->width, g->height, g->width, g->height);
	pctl_html_text(g->s, g->d->title);
	pctl_str_add(g->s,
		     "</title>\n<style>\n"
		     "text{font:12px "
		     "ui-monospace,monospace;fill:#222;direction:ltr;unicode-bidi:isolate}\n"
		     ".head{font-weight:bold}\n.ground{fill:#fff}\n"
		     ".work{fill:#eef3fb;stroke:#3b6ea8}\n.data{fill:#f6f6f2;stroke:#8a8a7a}\n"
		     ".edge{fill:none;stroke:#777}\n.tip{fill:#777}\n"
		     "@media (prefers-color-scheme:dark){text{fill:#ddd}.ground{fill:#16181c}"
		     ".work{fill:#1d2a3d;stroke:#6ea0da}.data{fill:#24251f;stroke:#99998a}"
		     ".edge{stroke:#999}.tip{fill:#999}}\n</style>\n"
		     "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n");
}

static void draw_edge(drawing *g, const pctl_diagram_edge *e)
{
	const struct place *a = &g->places[e->from], *b = &g->places[e->to];
	const uint32_t x = a->x + a->width, y = a->y + a->height / 2, to = b->y + b->height / 2;
	const uint32_t bend = (b->x - x) / 2;

	pctl_str_addf(g->s,
		      "<path class=\"edge\" d=\"M%" PRIu32 " %" PRIu32 "C%" PRIu32 " %" PRIu32
		      " %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32 "\"/>\n",
		      x, y, x + bend, y, b->x - bend, to, b->x, to);
	pctl_str_addf(g->s, "<path class=\"tip\" d=\"M%" PRIu32 " %" PRIu32 "l-7 -4v8z\"/>\n", b->x,
		      to);
}

static void draw_box(drawing *g, uint32_t i)
{
	const struct place *p = &g->places[i];
	const char *at = g->d->boxes[i].lines;

	pctl_str_add(g->s, "<g><title>");
	pctl_html_text(g->s, at);
	pctl_str_addf(g->s,
		      "</title><rect class=\"%s\" x=\"%" PRIu32 "\" y=\"%" PRIu32
		      "\" width=\"%" PRIu32 "\" height=\"%" PRIu32 "\" rx=\"%u\"/>\n",
		      g->d->boxes[i].kind == PCTL_DIAGRAM_DATA ? "data" : "work", p->x, p->y,
		      p->width, p->height, g->d->boxes[i].kind == PCTL_DIAGRAM_DATA ? 14u : 3u);
	for (uint32_t k = 0; k < p->n_lines; k++) {
		const size_t n = strcspn(at, "\n");

		pctl_str_addf(g->s, "<text%s x=\"%" PRIu32 "\" y=\"%" PRIu32 "\">",
			      k == 0 ? " class=\"head\"" : "", p->x + INSIDE,
			      p->y + INSIDE + LINE * k + 12);
		add_line(g->s, at, n);
		pctl_str_add(g->s, "</text>\n");
		at += n + (at[n] != '\0');
	}
	pctl_str_add(g->s, "</g>\n");
}

static void draw(drawing *g)
{
	begin(g);
	for (uint32_t i = 0; i < g->d->n_edges; i++)
		if (is_drawn(g, &g->d->edges[i]))
			draw_edge(g, &g->d->edges[i]);
	for (uint32_t i = 0; i < g->n; i++)
		draw_box(g, i);
	if (g->n < g->d->n_boxes)
		pctl_str_addf(g->s,
			      "<text x=\"%u\" y=\"%" PRIu32 "\">%" PRIu32
			      " more boxes are not drawn</text>\n",
			      EDGE, g->height - 8, g->d->n_boxes - g->n);
	pctl_str_add(g->s, "</svg>\n");
}

pctl_status pctl_diagram_svg(const pctl_diagram *d, const pctl_call *call, pctl_str_buf *out)
{
	drawing g = {.d = d, .n = d->n_boxes, .s = out};
	pctl_status status = PCTL_OK;

	if (g.n > PCTL_DIAGRAM_BOXES)
		g.n = PCTL_DIAGRAM_BOXES;
	g.places = calloc(g.n + 1u, sizeof(*g.places));
	g.layers = calloc(g.n + 1u, sizeof(*g.layers));
	g.order = calloc(g.n + 1u, sizeof(*g.order));
	if (g.places == NULL || g.layers == NULL || g.order == NULL)
		status = pctl_no_memory(call, "a picture");
	for (uint32_t i = 0; status == PCTL_OK && i < g.n; i++)
		measure(&g, i);
	if (status == PCTL_OK && !find_layers(&g))
		status = pctl_refuse(call, PC1_INTERNAL, "a picture of a graph with a cycle");
	if (status == PCTL_OK) {
		place_boxes(&g);
		draw(&g);
		if (out->failed)
			status = pctl_no_memory(call, "a picture");
	}
	free(g.places);
	free(g.layers);
	free(g.order);
	return status;
}
