/* Kernels that make one element from its number, attributes that name axes, shapes and types, and problems; see elements.h. */
#include "common/tensors/elements.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

/* ---- elements ------------------------------------------------------------------------------- */

uint64_t tensor_get(const void *data, uint64_t i, uint64_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)data + i * bytes, bytes);
	return v;
}

void tensor_put(void *data, uint64_t i, uint64_t bytes, uint64_t v)
{
	memcpy((char *)data + i * bytes, &v, bytes);
}

int tensor_is_float(uint32_t dtype)
{
	return tensor_float_format_of(dtype) != NULL;
}

uint64_t tensor_order_key(uint32_t dtype, uint64_t raw)
{
	const uint64_t bits = tensor_bits(dtype), top = 1ull << (bits - 1);
	const uint64_t all = top | (top - 1);

	if (tensor_float_layout_of(dtype) != NULL)
		return raw & top ? ~raw & all : raw | top;
	return tensor_is_signed(dtype) ? raw ^ top : raw;
}

/* ---- attributes and types ------------------------------------------------------------------- */

pctl_status tensor_lines_of(const kit_use *u, uint32_t attr, const pctl_tensor_type *x,
			    tensor_lines *out)
{
	const int64_t named = (int64_t)kit_attr(u, attr), rank = x->rank;
	const int64_t axis = named < 0 ? named + rank : named;

	*out = (tensor_lines){1, 1, 1, 0};
	if (axis < 0 || axis >= rank)
		return kit_refuse_attr(u, u->op->desc.attr[attr].name,
				       "names an axis that the input has not");
	out->axis = (uint32_t)axis;
	for (uint32_t d = 0; d < x->rank; d++)
		*(d < out->axis	   ? &out->outer
		  : d == out->axis ? &out->n
				   : &out->inner) *= x->dim[d];
	return PCTL_OK;
}

pctl_status tensor_movable(const kit_use *u, uint32_t port)
{
	const pctl_tensor_type *t = &u->q->in[port];
	const uint32_t bits = tensor_bits(t->dtype);

	if (bits == 0 || bits > 64)
		return kit_refuse_type(u, port, TENSOR_ANY);
	return kit_limit(u, "elements", kit_elements(t), TENSOR_ELEMENTS_MAX);
}

pctl_status tensor_numbers_of(const kit_use *u, uint32_t attr, int64_t least, uint32_t most,
			      int64_t *out, uint32_t *n)
{
	const char *name = u->op->desc.attr[attr].name, *text = u->q->attr[attr].text;

	*n = 0;
	while (*text != '\0') {
		char *end;
		const long long v = strtoll(text, &end, 10);

		if (end == text || (*end != '\0' && (*end != ',' || end[1] == '\0')))
			return kit_refuse_attr(u, name, "is not numbers between commas");
		if (*n == most)
			return kit_refuse_attr(u, name, "has more numbers than there are axes");
		if (v < least || v > (long long)TENSOR_ELEMENTS_MAX)
			return kit_refuse_attr(u, name, "has a number that is out of range");
		out[(*n)++] = v;
		text = end + (*end == ',');
	}
	return PCTL_OK;
}

pctl_status tensor_dtype_of(const kit_use *u, uint32_t attr, const char *allowed, uint32_t *out)
{
	const char *text = u->q->attr[attr].text;
	const size_t n = strlen(text);

	for (const char *at = allowed; n != 0 && at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, text, n) == 0 && (at[n] == '|' || at[n] == '\0'))
			for (*out = 0; *out <= PCTL_DTYPE_U128; (*out)++)
				if (kit_dtype_bytes(*out) != 0 &&
				    strcmp(kit_dtype_name(*out), text) == 0)
					return PCTL_OK;
	}
	return kit_refuse_attr(u, u->op->desc.attr[attr].name, "names no type that y can have");
}

pctl_status tensor_shape_of(const kit_use *u, uint32_t attr, pctl_tensor_type *out)
{
	int64_t dim[PCTL_RANK_MAX];
	pctl_status status = tensor_numbers_of(u, attr, 0, PCTL_RANK_MAX, dim, &out->rank);

	for (uint32_t d = 0; d < out->rank && status == PCTL_OK; d++)
		out->dim[d] = (uint64_t)dim[d];
	return status != PCTL_OK ? status
				 : kit_limit(u, "elements", kit_elements(out), TENSOR_ELEMENTS_MAX);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* As element_params.wgsl, and which element of the result is the first of this dispatch. */
#define PIECE_PARAMS                                                \
	"struct Params {\n\tcount: u32,\n\t@size(12) first: u32,\n" \
	"\t@align(16) @size(256) v: array<vec4<u32>, 16>,\n}\n"     \
	"@group(0) @binding(0) var<uniform> params: Params;\n"

/* As many elements of `bits` as a binding may have, so that the next piece begins where one may. */
static uint64_t piece_of(const kit_plan *p, uint64_t bits)
{
	const uint64_t step = p->caps->binding_alignment < 4 ? 4 : p->caps->binding_alignment;

	/* A step of elements, and of bytes where these hold several. */
	return bits < 8 ? p->caps->max_binding_bytes / step * step * (8 / bits)
			: p->caps->max_binding_bytes / (bits / 8) / step * step;
}

static int is_large(const kit_plan *p, uint64_t n_bytes)
{
	return p->caps->max_binding_bytes != 0 && n_bytes > p->caps->max_binding_bytes;
}

/* Bytes of elements, in which the last one may be begun. */
static uint64_t bytes_of(uint64_t count, uint64_t bits)
{
	return count * bits / 8 + (count * bits % 8 != 0);
}

static pctl_status refuse_large(const kit_plan *p, const char *what)
{
	return pctl_refuse(p->use->call, PC5203_BINDING_SIZE,
			   "%s: %s has no cut that fits in bindings of %llu bytes",
			   p->use->op->desc.name, what,
			   (unsigned long long)p->caps->max_binding_bytes);
}

/* The text of a result whose elements are counted from the first of the piece. */
static void add_piece(kit_wgsl *w, const char *text)
{
	for (const char *at; (at = strstr(text, "product(")) != NULL;) {
		char before[2048];

		snprintf(before, sizeof(before), "%.*sproduct(params.first + ", (int)(at - text),
			 text);
		kit_wgsl_add(w, before);
		text = at + strlen("product(");
	}
	kit_wgsl_add(w, text);
}

void tensor_written_numbers(kit_wgsl *w, uint32_t count, uint32_t (*v)[4], uint32_t n)
{
	char line[200];

	snprintf(line, sizeof(line),
		 "struct Params {\n\tcount: u32,\n\tv: array<vec4<u32>, %u>,\n}\n"
		 "const params: Params = Params(%uu, array<vec4<u32>, %u>(",
		 n, count, n);
	kit_wgsl_add(w, line);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(line, sizeof(line), "%s\n\tvec4<u32>(%uu, %uu, %uu, %uu)",
			 i == 0 ? "" : ",", v[i][0], v[i][1], v[i][2], v[i][3]);
		kit_wgsl_add(w, line);
	}
	kit_wgsl_add(w, "));\n");
}

static tensor_kernel begin(kit_plan *p, const char *name, uint64_t count, uint32_t bits,
			   uint64_t turns)
{
	tensor_kernel k = {.plan = p,
			   .w = kit_wgsl_make(p->use, 32768),
			   .name = name,
			   .bytes = bits / 8,
			   .bits = bits,
			   .count = count,
			   .n_slots = 1,
			   .turns = turns};

	k.piece = count;
	if (p->status == PCTL_OK && is_large(p, bytes_of(count, bits))) {
		/* Of a result that is too large for a binding a dispatch makes so many; where it begins is its first number. */
		k.piece = piece_of(p, bits);
		if (k.piece == 0)
			p->status = refuse_large(p, name);
	}
	k.params.count = (uint32_t)count;
	if (turns != 0)
		kit_wgsl_add(&k.w, "override steps: u32;\n");
	kit_wgsl_add(&k.w, k.piece < count ? PIECE_PARAMS : KERNEL_ELEMENT_PARAMS);
	kit_wgsl_add(&k.w, bits == 64 ? "alias T = u64;\n" : "alias T = u32;\n");
	return k;
}

tensor_kernel tensor_kernel_begin(kit_plan *p, const char *name, uint64_t count, uint64_t bytes,
				  uint64_t turns)
{
	return begin(p, name, count, (uint32_t)(8 * bytes), turns);
}

tensor_kernel tensor_kernel_begin_of(kit_plan *p, const char *name, uint64_t count, uint32_t dtype,
				     uint64_t turns)
{
	return begin(p, name, count, tensor_bits(dtype), turns);
}

void tensor_kernel_bind(tensor_kernel *k, const char *name, const char *element, uint32_t buffer)
{
	char text[160];

	snprintf(text, sizeof(text), "@group(0) @binding(%u) var<storage, read> %s: array<%s>;\n",
		 k->n_slots, name, element);
	kit_wgsl_add(&k->w, text);
	k->slots[k->n_slots++] = (kit_slot)KIT_ALL(buffer);
}

uint32_t tensor_add_parts_of(kit_plan *p, kit_wgsl *w, const char *name, const char *element,
			     uint32_t buffer, uint64_t total, uint32_t first, kit_slot *slots)
{
	const uint64_t bytes = strcmp(element, "u64") == 0 ? 8 : 4;
	const uint64_t each = piece_of(p, 8 * bytes);
	const uint64_t parts = each == 0 ? UINT32_MAX : (total / bytes + each - 1) / each;
	char text[200];

	if (first + parts > 15 || first + parts + 1 > p->caps->max_bindings) {
		if (p->status == PCTL_OK)
			p->status = refuse_large(p, name);
		return 0;
	}
	for (uint32_t i = 0; i < parts; i++) {
		const uint64_t from = i * each * bytes,
			       n = i + 1 < parts ? each * bytes : total - from;

		snprintf(text, sizeof(text),
			 "@group(0) @binding(%u) var<storage, read> %s_%u: array<%s>;\n", first + i,
			 name, i, element);
		kit_wgsl_add(w, text);
		slots[i] = (kit_slot)KIT_PART(buffer, from, n);
	}
	snprintf(text, sizeof(text), "fn %s_word(i: u32) -> %s {\n", name, element);
	kit_wgsl_add(w, text);
	for (uint32_t i = 0; i + 1 < parts; i++) {
		snprintf(text, sizeof(text),
			 "\tif (i < %lluu) {\n\t\treturn %s_%u[i - %lluu];\n\t}\n",
			 (unsigned long long)(each * (i + 1)), name, i,
			 (unsigned long long)(each * i));
		kit_wgsl_add(w, text);
	}
	snprintf(text, sizeof(text), "\treturn %s_%u[i - %lluu];\n}\n", name, (uint32_t)parts - 1,
		 (unsigned long long)(each * (parts - 1)));
	kit_wgsl_add(w, text);
	return (uint32_t)parts;
}

uint32_t tensor_add_parts(kit_plan *p, kit_wgsl *w, const char *name, const char *element,
			  uint32_t port, uint32_t first, kit_slot *slots)
{
	return tensor_add_parts_of(p, w, name, element, kit_in(p, port),
				   (kit_bytes(&p->use->q->in[port]) + 3) / 4 * 4, first, slots);
}

int tensor_is_too_large(const kit_plan *p, uint64_t n_bytes)
{
	return p->status == PCTL_OK && is_large(p, n_bytes);
}

int tensor_kernel_bind_words(tensor_kernel *k, const char *name, uint32_t buffer, uint64_t n)
{
	if (!tensor_is_too_large(k->plan, 4 * n)) {
		tensor_kernel_bind(k, name, "u32", buffer);
		return 0;
	}
	k->n_slots += tensor_add_parts_of(k->plan, &k->w, name, "u32", buffer, 4 * n, k->n_slots,
					  k->slots + k->n_slots);
	return 1;
}

int tensor_is_parted(const kit_plan *p, uint32_t buffer)
{
	return p->status == PCTL_OK && buffer < p->use->q->n_in &&
	       is_large(p, kit_bytes(&p->use->q->in[buffer]));
}

int tensor_kernel_words(tensor_kernel *k, const char *name, const char *element, uint32_t buffer)
{
	if (!tensor_is_parted(k->plan, buffer)) {
		tensor_kernel_bind(k, name, element, buffer);
		return 0;
	}
	k->n_slots += tensor_add_parts(k->plan, &k->w, name, element, buffer, k->n_slots,
				       k->slots + k->n_slots);
	return 1;
}

tensor_store tensor_kernel_store(tensor_kernel *k, const char *name, const char *element,
				 uint32_t buffer)
{
	char parts[32];
	tensor_store s = {.name = name};

	/* Texts may have a function of the name's own `_word`. */
	snprintf(parts, sizeof(parts), "parts_%s", name);
	s.parted = tensor_kernel_words(k, tensor_is_parted(k->plan, buffer) ? parts : name, element,
				       buffer);
	s.from = k->w.n;
	return s;
}

void tensor_kernel_stored(tensor_kernel *k, const tensor_store *s)
{
	char call[48];

	snprintf(call, sizeof(call), "parts_%s_word", s->name);
	if (s->parted)
		kit_wgsl_called(&k->w, s->from, s->name, call);
}

/* How element i is found by word(i / n): the whole, or bits of it. */
static void read_bits(tensor_kernel *k, const char *name, uint32_t bits, uint32_t buffer)
{
	const int parted = tensor_kernel_words(k, name, bits == 64 ? "u64" : "u32", buffer);
	const char *const before = parted ? "$_word(" : "$[", *const behind = parted ? ")" : "]";
	const char *const type = bits == 64 ? "u64" : "u32";
	const uint32_t parts = bits < 32 ? 32 / bits : 1;
	uint32_t shift = 0;
	char text[160];

	while (1u << shift < parts)
		shift++;
	if (parts == 1)
		snprintf(text, sizeof(text), "fn $_raw(i: u32) -> %s {\n\treturn %si%s;\n}\n", type,
			 before, behind);
	else
		snprintf(
			text, sizeof(text),
			"fn $_raw(i: u32) -> u32 {\n\treturn (%si >> %uu%s >> ((i & %uu) * %uu)) & "
			"0x%xu;\n}\n",
			before, shift, behind, parts - 1, bits, (1u << bits) - 1);
	kit_wgsl_named(&k->w, text, name);
}

void tensor_kernel_read(tensor_kernel *k, const char *name, uint64_t bytes, uint32_t buffer)
{
	read_bits(k, name, (uint32_t)(8 * bytes), buffer);
}

void tensor_kernel_read_of(tensor_kernel *k, const char *name, uint32_t dtype, uint32_t buffer)
{
	read_bits(k, name, tensor_bits(dtype), buffer);
}

void tensor_kernel_read_bits(tensor_kernel *k, const char *name, uint32_t dtype, uint32_t buffer)
{
	const size_t from = k->w.n;
	char call[48];

	kit_wgsl_named(&k->w, kit_codec_bits(dtype), name);
	snprintf(call, sizeof(call), "%s_word", name);
	if (tensor_is_parted(k->plan, buffer))
		kit_wgsl_called(&k->w, from, name, call);
}

void tensor_kernel_order(tensor_kernel *k, uint32_t dtype)
{
	const uint64_t bits = tensor_bits(dtype), top = 1ull << (bits - 1);
	const char *const suffix = bits == 64 ? "lu" : "u";
	char text[320];

	snprintf(text, sizeof(text),
		 "alias E = %s;\nconst TOP: E = 0x%llx%s;\nconst ALL: E = 0x%llx%s;\n"
		 "fn order_key(raw: E) -> E {\n\treturn %s;\n}\n",
		 bits == 64 ? "u64" : "u32", (unsigned long long)top, suffix,
		 (unsigned long long)(top | (top - 1)), suffix,
		 tensor_float_layout_of(dtype) != NULL
			 ? "select(raw | TOP, ~raw & ALL, (raw & TOP) != E(0))"
		 : tensor_is_signed(dtype) ? "raw ^ TOP"
					   : "raw");
	kit_wgsl_add(&k->w, text);
}

const char *tensor_result_text(uint64_t bytes, int writes)
{
	if (bytes == 1)
		return KERNEL_RESULT_QUARTERS;
	if (bytes == 2)
		return writes ? KERNEL_RESULT_THROUGH_HALVES : KERNEL_RESULT_HALVES;
	return writes ? KERNEL_RESULT_THROUGH : KERNEL_RESULT_WORDS;
}

void tensor_kernel_run(tensor_kernel *k, uint32_t buffer)
{
	const uint64_t each = k->bits < 32 ? 32 / k->bits : 1;
	const uint32_t writes =
		buffer == kit_out(k->plan, 0) ? k->plan->through & PCTL_PLAN_WRITE_THROUGH(0) : 0;
	kit_kernel kernel = {k->name, NULL, 64, k->turns != 0 ? "steps" : NULL, 16};
	char text[160];

	while (kernel.override_value < k->turns)
		kernel.override_value *= 2;
	snprintf(text, sizeof(text),
		 "@group(0) @binding(%u) var<storage, read_write> y: array<%s>;\n", k->n_slots,
		 k->bytes == 16 ? "vec4<u32>" : "T");
	kit_wgsl_add(&k->w, text);
	k->slots[k->n_slots++] = (kit_slot)KIT_ALL(buffer);
	if (k->bits < 8) {
		snprintf(text, sizeof(text), "const PER: u32 = %uu;\nconst WIDTH: u32 = %uu;\n",
			 32 / k->bits, k->bits);
		kit_wgsl_add(&k->w, text);
	}
	(k->piece < k->count ? add_piece : kit_wgsl_add)(
		&k->w,
		k->bits < 8 ? KERNEL_RESULT_PACKED : tensor_result_text(k->bytes, writes != 0));
	if (k->plan->status == PCTL_OK)
		k->plan->status = kit_wgsl_status(&k->w);
	kernel.text = k->w.text;
	for (uint64_t first = 0; k->plan->status == PCTL_OK && first < k->count;
	     first += k->piece) {
		const uint64_t n = k->count - first < k->piece ? k->count - first : k->piece;

		if (k->piece < k->count) {
			k->params.count = (uint32_t)n;
			k->params.first = (uint32_t)first;
			k->slots[k->n_slots - 1] = (kit_slot)KIT_PART(
				buffer, first * k->bits / 8, (bytes_of(n, k->bits) + 3) / 4 * 4);
		}
		k->slots[0] = (kit_slot)KIT_ALL(kit_params(k->plan, &k->params, sizeof(k->params)));
		kit_run_through(k->plan, &kernel, (n + each - 1) / each, k->slots, k->n_slots,
				(kit_through){writes, 0, first});
	}
	kit_wgsl_free(&k->w);
}

/* ---- problems ------------------------------------------------------------------------------- */

const pctl_tensor_type tensor_problem_shapes[TENSOR_SHAPES] = {
	{0, 1, {1}},	  {0, 1, {0}},	    {0, 2, {2, 3}},	 {0, 1, {7}},	  {0, 3, {3, 4, 5}},
	{0, 1, {31}},	  {0, 1, {33}},	    {0, 1, {64}},	 {0, 2, {5, 65}}, {0, 3, {2, 0, 3}},
	{0, 2, {127, 1}}, {0, 2, {129, 2}}, {0, 4, {2, 3, 2, 2}}};

pctl_tensor_type tensor_type_of(uint32_t dtype, uint32_t rank, const uint64_t *dim)
{
	pctl_tensor_type t = {.dtype = dtype, .rank = rank};

	memcpy(t.dim, dim, rank * sizeof(dim[0]));
	return t;
}

/* Of an f64: small integers, zeros, infinities and NaNs with both signs and two payloads. */
static uint64_t double_element(uint32_t kind, uint64_t r)
{
	static const uint64_t edges[] = {0,
					 1,
					 0x7ff0000000000000u,
					 0x7ff0000000000001u,
					 0x7ff8000000000000u,
					 0x7fefffffffffffffu};
	const double v = (double)(int32_t)(r % 17) - 8;
	uint64_t word;

	memcpy(&word, &v, 8);
	if (kind == TENSOR_SMALL)
		return word;
	return r % 8 >= 6 ? r : edges[r % 8] | (r >> 8 & 1) << 63;
}

/* Any bits; small integers; of floats what sums and comparisons go wrong at. */
static uint64_t element(uint32_t dtype, uint32_t kind, uint64_t r)
{
	const tensor_float_format *f = tensor_float_format_of(dtype);
	const uint64_t bits = tensor_bits(dtype), top = 1ull << (bits - 1);

	if (dtype == PCTL_SCALAR_BOOL)
		return r & 1;
	/* Few codes: any of them is small and at an edge. */
	if (dtype == PCTL_DTYPE_TERNARY)
		return (r >> 8) % 3 == 2 ? 3 : (r >> 8) % 3;
	if (kind == TENSOR_BITS || dtype >= PCTL_DTYPE_F8E4M3)
		return r >> (64 - bits);
	if (dtype == PCTL_SCALAR_F64)
		return double_element(kind, r);
	if (f == NULL)
		return kind == TENSOR_SMALL ? r % 9
		       : r % 4 == 0	    ? top
		       : r % 4 == 1	    ? top - 1
					    : r >> (64 - bits);
	if (kind == TENSOR_SMALL) {
		const float v = (float)(int32_t)(r % 17) - 8;
		uint32_t word;

		memcpy(&word, &v, 4);
		if (dtype == PCTL_SCALAR_F32)
			return word;
		if (dtype == PCTL_SCALAR_BF16)
			return word >> 16;
		return (word >> 16 & 0x8000u) |
		       (v == 0 ? 0 : ((word >> 23 & 255u) - 112) << 10 | (word >> 13 & 1023u));
	}
	switch (r % 8) {
	case 0:
		return r >> 8 & 1 ? f->sign : 0;
	case 1:
		return f->infinity | (r >> 8 & 1 ? f->sign : 0);
	case 2:
		return r >> 8 & 3 ? 1 : f->infinity | (uint32_t)(r >> 10 & 1 ? f->sign | 1 : 1);
	case 3:
		return (f->infinity - 1) | (r >> 8 & 1 ? f->sign : 0);
	default:
		return r >> (64 - bits);
	}
}

void tensor_problem_fill(kit_problem *p, uint32_t port, const pctl_tensor_type *t, uint32_t kind)
{
	const uint64_t n = kit_elements(t), n_bytes = kit_bytes(t);
	void *data = p->status == PCTL_OK ? kit_scratch(&p->use, n_bytes) : NULL;

	if (data == NULL) {
		if (p->status == PCTL_OK)
			p->status = pctl_refuse(p->use.call, PC2_NOMEM, "no memory for a problem");
		return;
	}
	memset(data, 0, n_bytes);
	for (uint64_t i = 0; i < n; i++)
		tensor_code_put(
			t->dtype, data, i,
			element(t->dtype, kind, kit_random(p->seed + p->number * 8 + port, i)));
	kit_problem_input(p, port, t, data);
	kit_scratch_free(&p->use, data);
}

void tensor_problem_attr(kit_problem *p, uint32_t i, const char *text)
{
	if (p->status == PCTL_OK)
		p->status = p->sink->attr(p->sink->ctx, i, text);
}

int tensor_problem_of_others(kit_problem *p)
{
	if ((p->number + p->dtype) % 3 != 0)
		kit_problem_none(p);
	return p->status == PCTL_E_UNSUPPORTED;
}

/* ---- laws ----------------------------------------------------------------------------------- */

const pctl_example tensor_boundaries[2] = {{"nothing", {0}}, {"one", {1}}};

uint32_t tensor_law_taken(kit_law *l, const pctl_tensor_type *t, uint32_t of,
			  uint64_t (*from)(const void *ctx, uint64_t i), const void *ctx)
{
	uint8_t *data = kit_law_scratch(l, kit_bytes(t) + 1);
	uint32_t number;

	if (data == NULL)
		return 0;
	for (uint64_t i = 0, n = kit_elements(t); i < n; i++)
		tensor_code_put(t->dtype, data, i,
				tensor_code(t->dtype, kit_law_data(l, of), from(ctx, i)));
	number = kit_law_tensor(l, t, data);
	kit_law_free(l, data);
	return number;
}

uint64_t tensor_law_mirrored(const void *ctx, uint64_t i)
{
	const tensor_lines *s = ctx;
	const uint64_t k = i % s->inner, j = i / s->inner % s->n, o = i / s->inner / s->n;

	return (o * s->n + (s->n - 1 - j)) * s->inner + k;
}
