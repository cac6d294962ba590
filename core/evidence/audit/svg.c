/* Implementation of svg.h. All coordinates are whole numbers, so that no rounding shows. */
#include "evidence/audit/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- histogram ---------------------------------------------------------------------------------- */

#define HISTOGRAM_STEP 36u
#define HISTOGRAM_HEIGHT 150u
#define HISTOGRAM_LEFT 46u
#define HISTOGRAM_LEAST 9u /* bars that are always drawn, so that small histograms compare */

/* log2 of v in 1/64, from its highest bit and the six below it: enough for a plot, and the same everywhere. */
static uint32_t log64(uint64_t v)
{
	uint32_t n = 0;

	while (n < 63 && v >> (n + 1) != 0)
		n++;
	return n * 64 + (uint32_t)((n >= 6 ? v >> (n - 6) : v << (6 - n)) & 63);
}

/* A length for count of at most `most` on a logarithmic axis that begins just below 1. */
static uint32_t log_length(uint64_t count, uint64_t most, uint32_t length)
{
	return count == 0 ? 0 : (log64(count) + 48) * length / (log64(most) + 48);
}

static void short_count(uint64_t n, char out[24])
{
	if (n < 10000)
		snprintf(out, 24, "%" PRIu64, n);
	else if (n < 10000000)
		snprintf(out, 24, "%" PRIu64 "k", n / 1000);
	else if (n < 10000000000u)
		snprintf(out, 24, "%" PRIu64 "M", n / 1000000);
	else
		snprintf(out, 24, "%" PRIu64 "G", n / 1000000000);
}

static void bucket_name(uint32_t i, char out[24])
{
	if (i < 2)
		snprintf(out, 24, "%" PRIu32, i);
	else if (i < 8)
		snprintf(out, 24, "%u+", 1u << (i - 1));
	else
		snprintf(out, 24, "2^%" PRIu32, i - 1);
}

static void histogram_grid(pctl_str_buf *s, uint64_t most, uint32_t right)
{
	for (uint64_t ten = 1; ten <= most; ten *= 10) {
		const uint32_t y = 20 + HISTOGRAM_HEIGHT - log_length(ten, most, HISTOGRAM_HEIGHT);
		char text[24];

		short_count(ten, text);
		pctl_str_addf(s,
			      "<line x1=\"%u\" y1=\"%" PRIu32 "\" x2=\"%" PRIu32 "\" y2=\"%" PRIu32
			      "\" class=\"grid\"/>\n",
			      HISTOGRAM_LEFT, y, right, y);
		pctl_svg_label(s, HISTOGRAM_LEFT - 6, y + 4, "end", "axis", text);
		if (ten > UINT64_MAX / 10)
			break;
	}
}

void pctl_svg_histogram(pctl_str_buf *s, const uint64_t counts[PCTL_DRIFT_BUCKETS],
			const char *title)
{
	uint32_t n = HISTOGRAM_LEAST, right;
	uint64_t most = 1;
	char text[24];

	for (uint32_t i = 0; i < PCTL_DRIFT_BUCKETS; i++) {
		most = counts[i] > most ? counts[i] : most;
		n = counts[i] != 0 && i + 1 > n ? i + 1 : n;
	}
	right = HISTOGRAM_LEFT + n * HISTOGRAM_STEP;
	pctl_svg_open(s, "histogram", right + 10, HISTOGRAM_HEIGHT + 60, title);
	histogram_grid(s, most, right);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t x = HISTOGRAM_LEFT + i * HISTOGRAM_STEP,
			       height = log_length(counts[i], most, HISTOGRAM_HEIGHT),
			       y = 20 + HISTOGRAM_HEIGHT - height;

		if (counts[i] != 0) {
			pctl_str_addf(s,
				      "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32
				      "\" width=\"%u\" height=\"%" PRIu32 "\" class=\"%s\"/>\n",
				      x + 3, y, HISTOGRAM_STEP - 6, height,
				      i == 0 ? "same" : "drift");
			short_count(counts[i], text);
			pctl_svg_label(s, x + HISTOGRAM_STEP / 2, y - 4, "middle", "value", text);
		}
		bucket_name(i, text);
		pctl_svg_label(s, x + HISTOGRAM_STEP / 2, HISTOGRAM_HEIGHT + 35, "middle", "axis",
			       text);
	}
	pctl_svg_label(s, HISTOGRAM_LEFT, HISTOGRAM_HEIGHT + 53, "start", "axis",
		       "distance in ULP; 0: the same bits");
	pctl_svg_close(s);
}

/* ---- strip -------------------------------------------------------------------------------------- */

#define STRIP_CELL 3u
#define STRIP_LEFT 46u
#define STRIP_SHARE 40u
#define STRIP_ULP 70u

/* Neighbours of the same height are drawn as one, which keeps a page of many strips small. */
static void strip_row(pctl_str_buf *s, const uint32_t heights[PCTL_DRIFT_STRIP], uint32_t bottom,
		      const char *style)
{
	for (uint32_t i = 0, n; i < PCTL_DRIFT_STRIP; i += n) {
		for (n = 1; i + n < PCTL_DRIFT_STRIP && heights[i + n] == heights[i];)
			n++;
		if (heights[i] != 0)
			pctl_str_addf(s,
				      "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32 "\" width=\"%" PRIu32
				      "\" height=\"%" PRIu32 "\" class=\"%s\"/>\n",
				      STRIP_LEFT + i * STRIP_CELL, bottom - heights[i],
				      n * STRIP_CELL, heights[i], style);
	}
}

static void strip_frame(pctl_str_buf *s, uint32_t top, uint32_t height, const char *high,
			const char *low)
{
	pctl_str_addf(s,
		      "<rect x=\"%u\" y=\"%" PRIu32 "\" width=\"%u\" height=\"%" PRIu32
		      "\" class=\"frame\"/>\n",
		      STRIP_LEFT, top, PCTL_DRIFT_STRIP * STRIP_CELL, height);
	pctl_svg_label(s, STRIP_LEFT - 6, top + 10, "end", "axis", high);
	pctl_svg_label(s, STRIP_LEFT - 6, top + height, "end", "axis", low);
}

void pctl_svg_strip(pctl_str_buf *s, const pctl_audit_drift *d, const char *title)
{
	const uint32_t right = STRIP_LEFT + PCTL_DRIFT_STRIP * STRIP_CELL,
		       ulp_top = 14 + STRIP_SHARE + 24;
	uint32_t heights[PCTL_DRIFT_STRIP];
	const int has_ulp = d->max_ulp != 0;
	char text[64];

	pctl_svg_open(s, "strip", right + 10, has_ulp ? ulp_top + STRIP_ULP + 24 : ulp_top + 10,
		      title);
	pctl_svg_label(s, STRIP_LEFT, 10, "start", "axis", "share of elements that differ");
	strip_frame(s, 14, STRIP_SHARE, "100 %", "0");
	for (uint32_t i = 0; i < PCTL_DRIFT_STRIP; i++) {
		heights[i] =
			(d->strip_ppm[i] + (1000000 / STRIP_SHARE - 1)) / (1000000 / STRIP_SHARE);
	}
	strip_row(s, heights, 14 + STRIP_SHARE, "drift");
	if (has_ulp) {
		pctl_svg_label(s, STRIP_LEFT, ulp_top - 4, "start", "axis",
			       "largest distance in ULP, logarithmic");
		short_count(d->max_ulp, text);
		strip_frame(s, ulp_top, STRIP_ULP, text, "0");
		for (uint32_t i = 0; i < PCTL_DRIFT_STRIP; i++)
			heights[i] = log_length(d->strip_ulp[i], d->max_ulp, STRIP_ULP);
		strip_row(s, heights, ulp_top + STRIP_ULP, "far");
	}
	pctl_svg_label(s, STRIP_LEFT, (has_ulp ? ulp_top + STRIP_ULP : 14 + STRIP_SHARE) + 14,
		       "start", "axis", "element 0");
	snprintf(text, sizeof(text), "element %" PRIu64,
		 d->n_elements == 0 ? 0 : d->n_elements - 1);
	pctl_svg_label(s, right, (has_ulp ? ulp_top + STRIP_ULP : 14 + STRIP_SHARE) + 14, "end",
		       "axis", text);
	pctl_svg_close(s);
}

/* ---- bits --------------------------------------------------------------------------------------- */

#define BIT_WIDTH 16u
#define BIT_HEIGHT 20u
#define BITS_LEFT 56u
#define BITS_LINE 32u

/* Left edge of the i-th box of a line: a gap after every fourth. */
static uint32_t bit_x(uint32_t i)
{
	return BITS_LEFT + i * BIT_WIDTH + i / 4 * 4;
}

static const char *field_of(uint32_t bit, uint32_t n_bits, uint32_t exponent)
{
	if (exponent == 0)
		return "";
	if (bit == n_bits - 1)
		return " sign";
	return bit >= n_bits - 1 - exponent ? " exponent" : "";
}

static void bit_row(pctl_str_buf *s, uint64_t bits, uint64_t flipped, uint32_t high, uint32_t n,
		    uint32_t n_bits, uint32_t exponent, uint32_t y)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t bit = high - i;

		pctl_str_addf(s,
			      "<rect x=\"%" PRIu32 "\" y=\"%" PRIu32
			      "\" width=\"%u\" height=\"%u\" class=\"bit%s%s\"/>\n",
			      bit_x(i), y, BIT_WIDTH - 1, BIT_HEIGHT,
			      field_of(bit, n_bits, exponent), flipped >> bit & 1 ? " flip" : "");
		pctl_svg_label(s, bit_x(i) + BIT_WIDTH / 2, y + 15, "middle",
			       flipped >> bit & 1 ? "digit flipped" : "digit",
			       bits >> bit & 1 ? "1" : "0");
	}
}

static void bit_marks(pctl_str_buf *s, uint64_t flipped, uint32_t high, uint32_t n, uint32_t y)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t bit = high - i, x = bit_x(i) + BIT_WIDTH / 2;
		char text[16];

		if (!(flipped >> bit & 1))
			continue;
		pctl_str_addf(s, "<path d=\"M%" PRIu32 " %" PRIu32 "l5 8h-10z\" class=\"mark\"/>\n",
			      x, y + 2);
		snprintf(text, sizeof(text), "%" PRIu32, bit);
		pctl_svg_label(s, x, y + 20, "middle", "axis", text);
	}
}

void pctl_svg_bits(pctl_str_buf *s, uint64_t got, uint64_t want, uint32_t n_bits, uint32_t exponent,
		   const char *title)
{
	const uint32_t per_line = n_bits < BITS_LINE ? n_bits : BITS_LINE,
		       lines = (n_bits + per_line - 1) / per_line, line = 2 * BIT_HEIGHT + 32;
	const uint64_t flipped = got ^ want;

	pctl_svg_open(s, "bits", bit_x(per_line) + 4, lines * line + 4, title);
	for (uint32_t i = 0; i < lines; i++) {
		const uint32_t high = n_bits - 1 - i * per_line, y = i * line + 4;

		pctl_svg_label(s, BITS_LEFT - 8, y + 15, "end", "axis", "wanted");
		bit_row(s, want, flipped, high, per_line, n_bits, exponent, y);
		pctl_svg_label(s, BITS_LEFT - 8, y + BIT_HEIGHT + 18, "end", "axis", "got");
		bit_row(s, got, flipped, high, per_line, n_bits, exponent, y + BIT_HEIGHT + 3);
		bit_marks(s, flipped, high, per_line, y + 2 * BIT_HEIGHT + 3);
	}
	pctl_svg_close(s);
}
