/* What is used of Wasmtime's C API, version 50, declared anew: its package for Python carries the library without headers.
 * Layouts and signatures are those of the public headers (wasm.h, wasmtime/{config,func,extern,val,store,linker,..}.h);
 * contract_wasm.c takes no library of another version. */
#ifndef PIPECTL_CHAIN_CONTRACTS_WASMTIME_ABI_H
#define PIPECTL_CHAIN_CONTRACTS_WASMTIME_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wasm_config_t wasm_config_t;
typedef struct wasm_engine_t wasm_engine_t;
typedef struct wasm_functype_t wasm_functype_t;
typedef struct wasm_valtype_t wasm_valtype_t;
typedef struct wasm_trap_t wasm_trap_t;
typedef struct wasmtime_error_t wasmtime_error_t;
typedef struct wasmtime_store_t wasmtime_store_t;
typedef struct wasmtime_context_t wasmtime_context_t;
typedef struct wasmtime_module_t wasmtime_module_t;
typedef struct wasmtime_linker_t wasmtime_linker_t;
typedef struct wasmtime_caller_t wasmtime_caller_t;

typedef struct wasm_byte_vec_t {
	size_t size;
	char *data;
} wasm_byte_vec_t;

typedef struct wasm_valtype_vec_t {
	size_t size;
	wasm_valtype_t **data;
} wasm_valtype_vec_t;

enum { WASM_I32 = 0, WASM_I64 = 1 };
enum { WASMTIME_EXTERN_FUNC = 0, WASMTIME_EXTERN_MEMORY = 3 };
enum { WASMTIME_STRATEGY_CRANELIFT = 1 };
enum { WASMTIME_OPT_LEVEL_NONE = 0 };
enum { WASMTIME_REGALLOC_SINGLE_PASS = 1 };
enum { WASMTIME_TRAP_CODE_OUT_OF_FUEL = 11 };

typedef struct wasmtime_func_t {
	uint64_t store_id;
	void *private_;
} wasmtime_func_t;

typedef struct wasmtime_memory_t {
	struct {
		uint64_t store_id;
		uint32_t private1;
	} of;
	uint32_t private2;
} wasmtime_memory_t;

typedef struct wasmtime_extern_t {
	uint8_t kind;
	union {
		wasmtime_func_t func;
		wasmtime_memory_t memory;
		uint64_t room[3];
	} of;
} wasmtime_extern_t;

typedef struct wasmtime_instance_t {
	uint64_t store_id;
	size_t private_;
} wasmtime_instance_t;

typedef struct wasmtime_val_t {
	uint8_t kind;
	union {
		int32_t i32;
		int64_t i64;
		uint64_t room[3];
	} of;
} wasmtime_val_t;

typedef wasm_trap_t *(*wasmtime_func_callback_t)(void *env, wasmtime_caller_t *caller,
						 const wasmtime_val_t *args, size_t n_args,
						 wasmtime_val_t *results, size_t n_results);

/* WASMTIME_FUNCTION(result, name, arguments) */
#define WASMTIME_FUNCTIONS(F)                                                                      \
	F(wasm_config_t *, wasm_config_new, (void))                                                \
	F(wasm_engine_t *, wasm_engine_new_with_config, (wasm_config_t *))                         \
	F(void, wasm_engine_delete, (wasm_engine_t *))                                             \
	F(void, wasm_config_delete, (wasm_config_t *))                                             \
	F(wasm_valtype_t *, wasm_valtype_new, (uint8_t))                                           \
	F(void, wasm_valtype_vec_new, (wasm_valtype_vec_t *, size_t, wasm_valtype_t *const *))     \
	F(wasm_functype_t *, wasm_functype_new, (wasm_valtype_vec_t *, wasm_valtype_vec_t *))      \
	F(void, wasm_functype_delete, (wasm_functype_t *))                                         \
	F(void, wasm_byte_vec_delete, (wasm_byte_vec_t *))                                         \
	F(void, wasm_trap_message, (const wasm_trap_t *, wasm_byte_vec_t *))                       \
	F(void, wasm_trap_delete, (wasm_trap_t *))                                                 \
	F(void, wasmtime_error_message, (const wasmtime_error_t *, wasm_byte_vec_t *))             \
	F(void, wasmtime_error_delete, (wasmtime_error_t *))                                       \
	F(bool, wasmtime_trap_code, (const wasm_trap_t *, uint8_t *))                              \
	F(wasm_trap_t *, wasmtime_trap_new, (const char *, size_t))                                \
	F(void, wasmtime_config_consume_fuel_set, (wasm_config_t *, bool))                         \
	F(void, wasmtime_config_strategy_set, (wasm_config_t *, uint8_t))                          \
	F(wasmtime_error_t *, wasmtime_config_target_set, (wasm_config_t *, const char *))         \
	F(void, wasmtime_config_cranelift_nan_canonicalization_set, (wasm_config_t *, bool))       \
	F(void, wasmtime_config_max_wasm_stack_set, (wasm_config_t *, size_t))                     \
	F(void, wasmtime_config_async_stack_size_set, (wasm_config_t *, uint64_t))                 \
	F(void, wasmtime_config_parallel_compilation_set, (wasm_config_t *, bool))                 \
	F(void, wasmtime_config_signals_based_traps_set, (wasm_config_t *, bool))                  \
	F(void, wasmtime_config_memory_reservation_set, (wasm_config_t *, uint64_t))               \
	F(void, wasmtime_config_memory_guard_size_set, (wasm_config_t *, uint64_t))                \
	F(void, wasmtime_config_memory_may_move_set, (wasm_config_t *, bool))                      \
	F(void, wasmtime_config_cranelift_opt_level_set, (wasm_config_t *, uint8_t))               \
	F(void, wasmtime_config_cranelift_regalloc_algorithm_set, (wasm_config_t *, uint8_t))      \
	F(void, wasmtime_config_wasm_multi_value_set, (wasm_config_t *, bool))                     \
	F(void, wasmtime_config_wasm_threads_set, (wasm_config_t *, bool))                         \
	F(void, wasmtime_config_wasm_tail_call_set, (wasm_config_t *, bool))                       \
	F(void, wasmtime_config_wasm_function_references_set, (wasm_config_t *, bool))             \
	F(void, wasmtime_config_wasm_gc_set, (wasm_config_t *, bool))                              \
	F(void, wasmtime_config_wasm_simd_set, (wasm_config_t *, bool))                            \
	F(void, wasmtime_config_wasm_relaxed_simd_set, (wasm_config_t *, bool))                    \
	F(void, wasmtime_config_wasm_multi_memory_set, (wasm_config_t *, bool))                    \
	F(void, wasmtime_config_wasm_memory64_set, (wasm_config_t *, bool))                        \
	F(void, wasmtime_config_wasm_wide_arithmetic_set, (wasm_config_t *, bool))                 \
	F(void, wasmtime_config_wasm_exceptions_set, (wasm_config_t *, bool))                      \
	F(void, wasmtime_config_wasm_custom_page_sizes_set, (wasm_config_t *, bool))               \
	F(void, wasmtime_config_wasm_stack_switching_set, (wasm_config_t *, bool))                 \
	F(wasmtime_error_t *, wasmtime_wat2wasm, (const char *, size_t, wasm_byte_vec_t *))        \
	F(wasmtime_error_t *, wasmtime_module_validate,                                            \
	  (wasm_engine_t *, const uint8_t *, size_t))                                              \
	F(wasmtime_error_t *, wasmtime_module_new,                                                 \
	  (wasm_engine_t *, const uint8_t *, size_t, wasmtime_module_t **))                        \
	F(void, wasmtime_module_delete, (wasmtime_module_t *))                                     \
	F(wasmtime_store_t *, wasmtime_store_new, (wasm_engine_t *, void *, void (*)(void *)))     \
	F(void, wasmtime_store_delete, (wasmtime_store_t *))                                       \
	F(wasmtime_context_t *, wasmtime_store_context, (wasmtime_store_t *))                      \
	F(void, wasmtime_store_limiter,                                                            \
	  (wasmtime_store_t *, int64_t, int64_t, int64_t, int64_t, int64_t))                       \
	F(wasmtime_error_t *, wasmtime_context_set_fuel, (wasmtime_context_t *, uint64_t))         \
	F(wasmtime_error_t *, wasmtime_context_get_fuel, (const wasmtime_context_t *, uint64_t *)) \
	F(wasmtime_linker_t *, wasmtime_linker_new, (wasm_engine_t *))                             \
	F(void, wasmtime_linker_delete, (wasmtime_linker_t *))                                     \
	F(wasmtime_error_t *, wasmtime_linker_define_func,                                         \
	  (wasmtime_linker_t *, const char *, size_t, const char *, size_t,                        \
	   const wasm_functype_t *, wasmtime_func_callback_t, void *, void (*)(void *)))           \
	F(wasmtime_error_t *, wasmtime_linker_instantiate,                                         \
	  (const wasmtime_linker_t *, wasmtime_context_t *, const wasmtime_module_t *,             \
	   wasmtime_instance_t *, wasm_trap_t **))                                                 \
	F(bool, wasmtime_instance_export_get,                                                      \
	  (wasmtime_context_t *, const wasmtime_instance_t *, const char *, size_t,                \
	   wasmtime_extern_t *))                                                                   \
	F(bool, wasmtime_caller_export_get,                                                        \
	  (wasmtime_caller_t *, const char *, size_t, wasmtime_extern_t *))                        \
	F(wasmtime_context_t *, wasmtime_caller_context, (wasmtime_caller_t *))                    \
	F(void, wasmtime_extern_delete, (wasmtime_extern_t *))                                     \
	F(wasmtime_error_t *, wasmtime_func_call,                                                  \
	  (wasmtime_context_t *, const wasmtime_func_t *, const wasmtime_val_t *, size_t,          \
	   wasmtime_val_t *, size_t, wasm_trap_t **))                                              \
	F(uint8_t *, wasmtime_memory_data,                                                         \
	  (const wasmtime_context_t *, const wasmtime_memory_t *))                                 \
	F(size_t, wasmtime_memory_data_size,                                                       \
	  (const wasmtime_context_t *, const wasmtime_memory_t *))

/* A symbol that only this version exports. */
#define WASMTIME_VERSION_SYMBOL "resolve_vmctx_memory_ptr_50_0_0"

typedef struct wasmtime_functions {
#define WASMTIME_MEMBER(result, name, arguments) result(*name) arguments;
	WASMTIME_FUNCTIONS(WASMTIME_MEMBER)
#undef WASMTIME_MEMBER
} wasmtime_functions;

#endif
