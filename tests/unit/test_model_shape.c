/* Descriptions of models: what follows from one, names and shapes of tensors, which layers slide, what a format cannot say. Files are
 * tests/integration/model's. */
#include "main.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "foundation/diag/diag.h"
#include "foundation/tensorfile/writer.h"
#include "model/synth/synth.h"

static pctl_model_shape named(const char *name)
{
	pctl_model_shape s;

	assert_int_equal(pctl_synth_shape_named(name, NULL, &s), PCTL_OK);
	pctl_model_complete(&s);
	return s;
}

/* Parameters as their makers publish them, to two digits; embeddings that are tied count once. */
static void parameters(void **state)
{
	static const struct {
		const char *name;
		double billions;
	} rows[] = {{"qwen2.5-0.5b", 0.49},	 {"qwen2.5-1.5b", 1.54},    {"qwen2.5-3b", 3.09},
		    {"qwen2.5-7b", 7.61},	 {"qwen3-0.6b", 0.6},	    {"qwen3-30b-a3b", 30.5},
		    {"llama3.2-1b", 1.24},	 {"llama3-8b", 8.03},	    {"mistral-7b", 7.24},
		    {"mixtral-8x7b", 46.7},	 {"gemma-2b", 2.51},	    {"gemma2-2b", 2.61},
		    {"qwen1.5-moe-a2.7b", 14.3}, {"qwen2.5-7b-yarn", 7.61}, {"phi3-mini-4k", 3.82},
		    {"phi4-mini-4k", 3.84},	 {"deepseek-moe-16b", 16.4}};
	uint32_t layers, experts, n = 0;
	uint64_t elements, n_bytes;
	pctl_tensor_type t = {.dtype = PCTL_SCALAR_F32};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++, n++) {
		const pctl_model_shape s = named(rows[i].name);
		double sum = 0;

		assert_int_equal(pctl_model_shape_check(&s, "x", NULL), PCTL_OK);
		for (uint32_t r = 0; r < PCTL_ROLES; r++) {
			if (!pctl_model_needs(&s, (pctl_model_role)r, PCTL_MODEL_LAYOUT_SAFETENSORS,
					      &layers, &experts))
				continue;
			pctl_model_expected(&s, (pctl_model_role)r, PCTL_MODEL_LAYOUT_SAFETENSORS,
					    &t);
			assert_true(pctl_tensor_size(&t, &elements, &n_bytes));
			for (uint32_t k = 0; k < layers; k++)
				sum += (double)elements * experts * 1e-9 *
				       pctl_model_layer_has(&s, (pctl_model_role)r, k);
		}
		if (sum / rows[i].billions < 0.99 || sum / rows[i].billions > 1.01)
			fail_msg("%s has %g", rows[i].name, sum);
	}
	assert_null(pctl_synth_shape_at(n));
}

static void windows(void **state)
{
	pctl_model_shape s = named("gemma2-2b");

	(void)state;
	assert_true(pctl_model_layer_slides(&s, 0));
	assert_false(pctl_model_layer_slides(&s, 1));
	assert_true(pctl_model_layer_slides(&s, 24));
	s = named("mistral-7b");
	assert_true(pctl_model_layer_slides(&s, 31));
	s.window_first = 3;
	assert_false(pctl_model_layer_slides(&s, 2));
	assert_true(pctl_model_layer_slides(&s, 4));
	s = named("llama3-8b");
	assert_false(pctl_model_layer_slides(&s, 0));
	assert_int_equal(pctl_model_kv_bytes(&s), 2 * 32 * 8 * 128 * 4);
}

static void experts(void **state)
{
	const pctl_model_shape s = named("mixtral-8x7b");
	pctl_tensor_type t = {.dtype = PCTL_SCALAR_F32};
	uint32_t layers, n;
	char name[128];

	(void)state;
	assert_true(
		pctl_model_needs(&s, PCTL_ROLE_DOWN_EXPERTS, PCTL_MODEL_LAYOUT_GGUF, &layers, &n));
	assert_int_equal(n, 1);
	pctl_model_expected(&s, PCTL_ROLE_DOWN_EXPERTS, PCTL_MODEL_LAYOUT_GGUF, &t);
	assert_int_equal(t.rank, 3);
	assert_int_equal(t.dim[0], 8);
	assert_true(pctl_model_needs(&s, PCTL_ROLE_DOWN_EXPERTS, PCTL_MODEL_LAYOUT_SAFETENSORS,
				     &layers, &n));
	assert_int_equal(n, 8);
	pctl_model_name(&s, PCTL_ROLE_DOWN_EXPERTS, PCTL_MODEL_LAYOUT_SAFETENSORS, "31", 7, name,
			sizeof(name));
	assert_string_equal(name, "model.layers.31.block_sparse_moe.experts.7.w2.weight");
	assert_false(pctl_model_needs(&s, PCTL_ROLE_GATE, PCTL_MODEL_LAYOUT_GGUF, &layers, &n));
}

static void formats(void **state)
{
	pctl_model_shape s = named("llama3.2-1b"), out;

	(void)state;
	assert_int_equal(pctl_model_shape_for(&s, PCTL_MODEL_LAYOUT_GGUF, "x", NULL, &out),
			 PCTL_OK);
	assert_int_equal(out.rope.pairing, PCTL_MODEL_NEIGHBOURS);
	s.rope.n_original = 4096; /* the tensor of GGUF does not say it */
	assert_int_equal(pctl_model_shape_for(&s, PCTL_MODEL_LAYOUT_GGUF, "x", NULL, &out),
			 pctl_code_status(PC6290_MODEL_PLAN));
	assert_int_equal(pctl_model_shape_for(&s, PCTL_MODEL_LAYOUT_SAFETENSORS, "x", NULL, &out),
			 PCTL_OK);
	s = named("gemma-2b");
	assert_int_equal(pctl_model_shape_for(&s, PCTL_MODEL_LAYOUT_SAFETENSORS, "x", NULL, &out),
			 PCTL_OK);
	assert_true(out.norm_offset == 1);
	s = named("mistral-7b");
	s.window_first = 2;
	assert_int_equal(pctl_model_shape_for(&s, PCTL_MODEL_LAYOUT_GGUF, "x", NULL, &out),
			 pctl_code_status(PC6290_MODEL_PLAN));
	assert_int_equal(pctl_model_dtype_for(&s, PCTL_ROLE_ATTN_NORM, PCTL_DTYPE_Q4_K),
			 PCTL_SCALAR_F32);
	assert_int_equal(pctl_model_dtype_for(&s, PCTL_ROLE_Q, PCTL_DTYPE_Q4_K), PCTL_DTYPE_Q4_K);
	s.n_embd = 96; /* no whole block of 256 */
	assert_int_equal(pctl_model_dtype_for(&s, PCTL_ROLE_Q, PCTL_DTYPE_Q4_K), PCTL_DTYPE_Q8_0);
	s.n_embd = 40;
	assert_int_equal(pctl_model_dtype_for(&s, PCTL_ROLE_Q, PCTL_DTYPE_Q4_K), PCTL_SCALAR_F16);
}

/* A writer takes what it was told, no more and no less. */
static void writer(void **state)
{
	const pctl_tensor t = {"x", {PCTL_SCALAR_F32, 1, {3}}, NULL};
	char path[] = "/tmp/pipectl-test-XXXXXX";
	const float data[4] = {1, 2, 3, 4};
	pctl_gguf_keys keys = {PCTL_STR_BUF_INIT, 0};
	const pctl_gguf_key *k;
	pctl_tensor_writer *w;
	pctl_tensor_file *f;
	uint64_t v;
	double x;

	(void)state;
	assert_int_not_equal(mkdtemp(path), NULL);
	assert_int_equal(chdir(path), 0);
	pctl_gguf_put_u32(&keys, "a", 7);
	pctl_gguf_put_f32(&keys, "b", 0.5f);
	assert_int_equal(
		pctl_tensor_writer_open("x.gguf", PCTL_TENSOR_FORMAT_GGUF, &t, 1, &keys, NULL, &w),
		PCTL_OK);
	assert_int_not_equal(pctl_tensor_writer_put(w, data, 16, NULL), PCTL_OK);
	assert_int_equal(pctl_tensor_writer_put(w, data, 4, NULL), PCTL_OK);
	assert_int_not_equal(pctl_tensor_writer_commit(w, NULL), PCTL_OK);
	assert_int_equal(access("x.gguf", F_OK), -1);
	assert_int_equal(
		pctl_tensor_writer_open("x.gguf", PCTL_TENSOR_FORMAT_GGUF, &t, 1, &keys, NULL, &w),
		PCTL_OK);
	assert_int_equal(pctl_tensor_writer_put(w, data, 4, NULL), PCTL_OK);
	assert_int_equal(pctl_tensor_writer_put(w, data + 1, 8, NULL), PCTL_OK);
	assert_int_equal(pctl_tensor_writer_commit(w, NULL), PCTL_OK);
	assert_int_equal(pctl_tensor_file_open("x.gguf", NULL, &f), PCTL_OK);
	k = pctl_tensor_file_key(f, "a");
	assert_non_null(k);
	assert_true(pctl_gguf_integer(k, &v) && v == 7 && !pctl_gguf_float(k, &x));
	assert_true(pctl_gguf_float(pctl_tensor_file_key(f, "b"), &x) && x == 0.5);
	assert_null(pctl_tensor_file_key(f, "c"));
	pctl_tensor_file_close(f);
	pctl_str_drop(&keys.bytes);
	assert_int_equal(unlink("x.gguf"), 0);
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(path), 0);
}

PCTL_TESTS_MAIN(PCTL_TEST(parameters), PCTL_TEST(windows), PCTL_TEST(experts), PCTL_TEST(formats),
		PCTL_TEST(writer))
