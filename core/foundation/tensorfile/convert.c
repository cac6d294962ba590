/* Conversion of tensors, element by element or block by block. */
#include "foundation/tensorfile/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foundation/diag/diag.h"
#include "foundation/tensorfile/tensor_file.h"
#include "foundation/tensorfile/threads.h"

#define ASK_EVERY 65536u /* elements between two looks at whether somebody wants to stop */
#define RANGE 8192u	 /* elements that a thread makes blocks of at a time */
#define ROUND 1048576u	 /* elements that threads are made for */

static uint64_t elements(const pctl_tensor_type *t)
{
	uint64_t n, n_bytes;

	(void)pctl_tensor_size(t, &n, &n_bytes);
	return n;
}

static pctl_status bad_element(const char *name, uint64_t i, const pctl_dtype *to, const char *why,
			       const pctl_call *call)
{
	return pctl_refuse(call, PC4213_TENSOR_VALUE,
			   "tensor \"%.200s\": element %" PRIu64 " cannot be had in %s: %s", name,
			   i, to->name, why);
}

/* Blocks made out of elements. A range of them ends at the first that cannot be made. */
typedef struct making {
	const pctl_dtype *from, *to;
	const void *data;
	uint8_t *out;
	uint64_t first; /* block of a round */
} making;

/* The numbers of a block, which blocks can hold; the first that they cannot, else to->block. */
static uint32_t take_block(const making *m, uint64_t first, double *v)
{
	pctl_exact x;

	for (uint32_t i = 0; i < m->to->block; i++) {
		float f;

		if (m->from->id == PCTL_SCALAR_F32) {
			memcpy(&f, (const uint8_t *)m->data + 4 * (first + i), 4);
			v[i] = (double)f;
		} else if (!pctl_dtype_read(m->from, m->data, first + i, &x) ||
			   x.kind != PCTL_EXACT_FINITE) {
			return i;
		} else {
			v[i] = pctl_exact_to_double(x);
		}
		if (!isfinite(v[i]))
			return i;
	}
	return m->to->block;
}

static uint64_t make_blocks(void *ctx, uint64_t first, uint64_t n)
{
	const making *m = ctx;
	double v[PCTL_DTYPE_BLOCK_MAX];

	for (uint64_t b = m->first + first; b < m->first + first + n; b++)
		if (take_block(m, b * m->to->block, v) != m->to->block ||
		    !pctl_dtype_block_make(m->to, v, m->out + b * (m->to->bits / 8)))
			return b;
	return UINT64_MAX;
}

static pctl_status write_blocks(const char *name, uint64_t before, const pctl_dtype *from,
				const void *data, uint64_t n, const pctl_dtype *to,
				const pctl_call *call, uint8_t *out)
{
	making m = {from, to, data, out, 0};
	const uint64_t blocks = n / to->block, round = ROUND / to->block;
	uint64_t bad = UINT64_MAX;
	double v[PCTL_DTYPE_BLOCK_MAX];
	uint32_t at;

	/* Whoever calls is asked by his own thread alone. */
	for (; m.first < blocks && bad == UINT64_MAX; m.first += round) {
		if (pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "tensor \"%.200s\": cancelled",
					   name);
		bad = pctl_threads_run(blocks - m.first < round ? blocks - m.first : round,
				       RANGE / to->block, make_blocks, &m);
	}
	if (bad == UINT64_MAX)
		return PCTL_OK;
	at = take_block(&m, bad * to->block, v);
	return at != to->block ? bad_element(name, before + bad * to->block + at, to,
					     "blocks hold finite numbers", call)
			       : bad_element(name, before + bad * to->block, to,
					     "a scale of its block is beyond f16", call);
}

static pctl_status write_elements(const char *name, uint64_t before, const pctl_dtype *from,
				  const void *data, uint64_t n, const pctl_dtype *to,
				  pctl_dtype_overflow overflow, const pctl_call *call, uint8_t *out)
{
	pctl_exact v;

	for (uint64_t i = 0; i < n; i++) {
		if (!pctl_dtype_read(from, data, i, &v))
			return bad_element(name, before + i, to, "its code stands for nothing",
					   call);
		if (!pctl_dtype_write(to, v, overflow, out, i))
			return bad_element(name, before + i, to, "it is NaN", call);
		if (i % ASK_EVERY == 0 && pctl_is_cancelled(call))
			return pctl_refuse(call, PC4_CANCELLED, "tensor \"%.200s\": cancelled",
					   name);
	}
	return PCTL_OK;
}

pctl_status pctl_tensor_convert(const char *name, const pctl_tensor_type *from, const void *data,
				uint32_t to, pctl_dtype_overflow overflow, const pctl_call *call,
				pctl_tensor_type *type, void **out)
{
	return pctl_tensor_convert_part(name, 0, from, data, to, overflow, call, type, out);
}

pctl_status pctl_tensor_convert_part(const char *name, uint64_t before,
				     const pctl_tensor_type *from, const void *data, uint32_t to,
				     pctl_dtype_overflow overflow, const pctl_call *call,
				     pctl_tensor_type *type, void **out)
{
	const pctl_dtype *a = pctl_dtype_of(from->dtype), *b = pctl_dtype_of(to);
	const uint64_t n = elements(from);
	uint64_t n_bytes;
	pctl_status status;

	*out = NULL;
	*type = *from;
	type->dtype = to;
	if (a != b && (a->kind == PCTL_DTYPE_KIND_OPAQUE || b->kind == PCTL_DTYPE_KIND_OPAQUE))
		return pctl_refuse(call, PC4212_TENSOR_TYPE,
				   "tensor \"%.200s\": %s and %s cannot be made into each other",
				   name, a->name, b->name);
	if (b->block > 1 && (from->rank == 0 || from->dim[from->rank - 1] % b->block != 0))
		return pctl_refuse(call, PC4212_TENSOR_TYPE,
				   "tensor \"%.200s\": rows of %s are whole blocks of %" PRIu32
				   " elements, these have %" PRIu64,
				   name, b->name, b->block,
				   from->rank ? from->dim[from->rank - 1] : 1);
	if (!pctl_dtype_size(b, n, &n_bytes))
		return pctl_refuse(call, PC4212_TENSOR_TYPE, "tensor \"%.200s\": too large for %s",
				   name, b->name);
	*out = calloc(n_bytes ? n_bytes : 1, 1);
	if (*out == NULL)
		return pctl_no_memory(call, "a tensor");
	if (a == b) {
		memcpy(*out, data, n_bytes);
		return PCTL_OK;
	}
	status = b->kind == PCTL_DTYPE_KIND_BLOCK
			 ? write_blocks(name, before, a, data, n, b, call, *out)
			 : write_elements(name, before, a, data, n, b, overflow, call, *out);
	if (status != PCTL_OK) {
		free(*out);
		*out = NULL;
	}
	return status;
}

/* ---- at a glance ---- */

static void take_in(pctl_tensor_statistics *s, pctl_exact v, double *sum)
{
	const double x = pctl_exact_to_double(v);

	s->nan += v.kind == PCTL_EXACT_NAN;
	s->infinite += v.kind == PCTL_EXACT_INFINITE;
	if (v.kind != PCTL_EXACT_FINITE)
		return;
	s->zeros += v.magnitude == 0;
	s->least = s->finite == 0 || x < s->least ? x : s->least;
	s->most = s->finite == 0 || x > s->most ? x : s->most;
	*sum += x;
	s->finite++;
}

int pctl_tensor_statistics_of(const pctl_tensor_type *type, const void *data,
			      pctl_tensor_statistics *out)
{
	const pctl_dtype *t = pctl_dtype_of(type->dtype);
	double sum = 0, step;
	pctl_exact v;

	memset(out, 0, sizeof(*out));
	if (t->kind == PCTL_DTYPE_KIND_OPAQUE)
		return 0;
	out->n = elements(type);
	for (uint64_t i = 0; i < out->n; i++)
		if (pctl_dtype_read(t, data, i, &v))
			take_in(out, v, &sum);
	out->mean = out->finite ? sum / (double)out->finite : 0;
	step = out->most / PCTL_TENSOR_BINS -
	       out->least / PCTL_TENSOR_BINS; /* the difference itself may overflow */
	for (uint64_t i = 0; i < out->n; i++) {
		double place;

		if (!pctl_dtype_read(t, data, i, &v) || v.kind != PCTL_EXACT_FINITE)
			continue;
		place = step > 0 ? pctl_exact_to_double(v) / step - out->least / step : 0;
		out->bins[place >= PCTL_TENSOR_BINS - 1 ? PCTL_TENSOR_BINS - 1
			  : place > 0			? (uint32_t)place
							: 0]++;
	}
	return 1;
}

/* Of a cell: the largest magnitude in it, and whether something in it is no number. */
typedef struct cell {
	double most;
	uint32_t odd;
} cell;

static void fill_cells(const pctl_dtype *t, const void *data, uint64_t height, uint64_t width,
		       uint32_t rows, uint32_t columns, cell *cells)
{
	pctl_exact v;

	for (uint64_t y = 0; y < height; y++)
		for (uint64_t x = 0; x < width; x++) {
			cell *c = &cells[y * rows / height * columns + x * columns / width];
			double size;

			if (!pctl_dtype_read(t, data, y * width + x, &v) ||
			    v.kind != PCTL_EXACT_FINITE) {
				c->odd = 1;
				continue;
			}
			v.negative = 0;
			size = pctl_exact_to_double(v);
			c->most = size > c->most ? size : c->most;
		}
}

char *pctl_tensor_picture(const pctl_tensor_type *type, const void *data, uint32_t rows,
			  uint32_t columns)
{
	static const char shades[] = " .:-=+*#%@";
	const pctl_dtype *t = pctl_dtype_of(type->dtype);
	const uint64_t width = type->rank ? type->dim[type->rank - 1] : 1;
	const uint64_t height = type->rank > 1 ? type->dim[type->rank - 2] : 1;
	double most = 0;
	cell *cells;
	char *out, *at;

	if (t->kind == PCTL_DTYPE_KIND_OPAQUE || elements(type) == 0 || height > UINT32_MAX ||
	    width > UINT32_MAX)
		return NULL;
	rows = height < rows ? (uint32_t)height : rows;
	columns = width < columns ? (uint32_t)width : columns;
	cells = calloc((size_t)rows * columns, sizeof(*cells));
	out = malloc((size_t)rows * (columns + 1) + 1);
	if (cells == NULL || out == NULL) {
		free(cells);
		free(out);
		return NULL;
	}
	fill_cells(t, data, height, width, rows, columns, cells);
	for (uint32_t i = 0; i < rows * columns; i++)
		most = cells[i].most > most ? cells[i].most : most;
	at = out;
	for (uint32_t y = 0; y < rows; y++) {
		for (uint32_t x = 0; x < columns; x++) {
			const cell *c = &cells[y * columns + x];
			const uint32_t shade =
				c->most > 0 ? 1 + (uint32_t)(c->most / most * (sizeof(shades) - 3) +
							     0.5)
					    : 0;

			*at++ = c->odd ? '!' : shades[shade];
		}
		*at++ = '\n';
	}
	*at = '\0';
	free(cells);
	return out;
}
