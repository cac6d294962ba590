/* Section of the page on differences: for each, the way from the job down to the bits, and how to see it again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evidence/audit/html.h"

static uint32_t dtype_of(const pctl_audit_result *r, const pctl_audit_divergence *d)
{
	for (uint32_t i = 0; i < r->n_cells; i++) {
		if (strcmp(r->cells[i].job, d->job) == 0 && strcmp(r->cells[i].port, d->port) == 0)
			return r->cells[i].type.dtype;
	}
	return 0;
}

static void step(pctl_page *p, const char *name, const char *value)
{
	pctl_html_wrap(&p->s, "<li><span>", name, "</span>");
	pctl_html_wrap(&p->s, "<code>", value, "</code></li>");
}

static void step_number(pctl_page *p, const char *name, uint64_t value)
{
	char text[PCTL_SHOWN];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	step(p, name, text);
}

static void way_down(pctl_page *p, const pctl_audit_divergence *d)
{
	pctl_str_add(&p->s, "<ol class=\"path\">");
	step(p, "job", d->job);
	if (d->known) {
		step_number(p, "round", d->round);
		step_number(p, "step", d->step);
		step(p, "kernel", d->kernel);
		step(p, "buffer", d->buffer);
		step_number(p, "element", d->buffer_element);
	} else {
		step(p, "output", d->port);
		step_number(p, "element", d->element);
	}
	pctl_str_add(&p->s, "</ol>\n");
	if (!d->known)
		pctl_str_add(
			&p->s,
			"<p class=\"muted\">When run again, the device did not differ: the step "
			"could not be found.</p>\n");
}

static void bits(pctl_page *p, const pctl_audit_divergence *d)
{
	const uint32_t dtype = dtype_of(p->r, d),
		       n_bytes =
			       d->element_bytes == 0 || d->element_bytes > 8 ? 8 : d->element_bytes;
	char got[PCTL_SHOWN], want[PCTL_SHOWN], got_bits[PCTL_SHOWN], want_bits[PCTL_SHOWN],
		title[400];

	pctl_show_bits(n_bytes, d->got, got_bits);
	pctl_show_bits(n_bytes, d->want, want_bits);
	snprintf(title, sizeof(title),
		 "Bits of element %" PRIu64 ": wanted %s, got %s, %" PRIu32 " flipped", d->element,
		 want_bits, got_bits, d->flipped_bits);
	pctl_svg_bits(&p->s, d->got, d->want, n_bytes * 8, pctl_exponent_bits(dtype), title);
	pctl_str_addf(&p->s, "<p class=\"small\">Element %" PRIu64 " of <code>", d->element);
	pctl_html_wrap(&p->s, "", d->port, "</code>");
	pctl_str_addf(&p->s,
		      ": wanted <code>%s</code> = %s, got <code>%s</code> = %s. %" PRIu32
		      " bit%s flipped",
		      want_bits, pctl_show_value(dtype, d->want, want), got_bits,
		      pctl_show_value(dtype, d->got, got), d->flipped_bits,
		      d->flipped_bits == 1 ? "" : "s");
	if (d->ulp != 0)
		pctl_str_addf(&p->s, ", %" PRIu64 " ULP apart", d->ulp);
	pctl_str_addf(&p->s, "; %" PRIu64 " element%s of this output differ%s.</p>\n",
		      d->n_different, d->n_different == 1 ? "" : "s",
		      d->n_different == 1 ? "s" : "");
}

/* Where the difference began, when that is not the element of the output itself. */
static void origin(pctl_page *p, const pctl_audit_divergence *d)
{
	const uint32_t n_bits = d->buffer_got >> 32 != 0 || d->buffer_want >> 32 != 0 ? 64 : 32;
	char got[PCTL_SHOWN], want[PCTL_SHOWN], title[400];

	if (!d->known || (d->buffer_got == d->got && d->buffer_want == d->want))
		return;
	pctl_show_bits(n_bits / 8, d->buffer_got, got);
	pctl_show_bits(n_bits / 8, d->buffer_want, want);
	pctl_html_wrap(&p->s, "<h3>Where it began: <code>", d->buffer, "</code></h3>\n");
	snprintf(title, sizeof(title),
		 "Bits of element %" PRIu64 " of the buffer: wanted %s, got %s", d->buffer_element,
		 want, got);
	pctl_svg_bits(&p->s, d->buffer_got, d->buffer_want, n_bits, 0, title);
}

static void reproduction(pctl_page *p, const pctl_audit_divergence *d)
{
	char to[PCTL_SHOWN], from[PCTL_SHOWN];

	if (d->command == NULL)
		return;
	pctl_html_wrap(&p->s, "<h3>See it again</h3>\n<pre>", d->command,
		       "</pre>\n<p class=\"small muted\">");
	pctl_str_addf(&p->s, "One dispatch of %" PRIu32 " x %" PRIu32 " x %" PRIu32 " workgroups",
		      d->groups[0], d->groups[1], d->groups[2]);
	if (d->shrunk_from != 0)
		pctl_str_addf(&p->s, ", data shrunk from %s to %s",
			      pctl_show_bytes(d->shrunk_from, from),
			      pctl_show_bytes(d->shrunk_bytes, to));
	if (d->tried != 0)
		pctl_str_addf(&p->s, "; it came again in %" PRIu32 " of %" PRIu32 " tries",
			      d->reproduced, d->tried);
	pctl_str_add(&p->s, ".</p>\n");
	if (d->dir != NULL)
		pctl_html_wrap(&p->s, "<p class=\"small muted\">Files: <code>", d->dir,
			       "</code></p>\n");
}

void pctl_html_divergences(pctl_page *p)
{
	const pctl_audit_result *r = p->r;

	if (r->n_divergences == 0)
		return;
	pctl_html_heading(
		&p->s, "divergences", r->n_divergences == 1 ? "The difference" : "The differences",
		"The first difference of each device that differs, taken apart down to its bits.");
	for (uint32_t i = 0; i < r->n_divergences; i++) {
		const pctl_audit_divergence *d = &r->divergences[i];
		const uint32_t outcome =
			d->device < r->n_devices ? r->devices[d->device].outcome : 0;

		pctl_str_add(&p->s, "<article class=\"card bad\">\n<h3><code>");
		pctl_html_wrap(&p->s, "", pctl_device_selector(r, d->device), "</code>");
		pctl_str_addf(
			&p->s, ", run %" PRIu32 ": <span class=\"outcome %s\">%s</span></h3>\n",
			d->repeat + 1, pctl_show_outcome(outcome), pctl_show_outcome(outcome));
		way_down(p, d);
		bits(p, d);
		origin(p, d);
		reproduction(p, d);
		pctl_str_add(&p->s, "</article>\n");
	}
}
