/* What the files of the vulkan backend share. Everything a Vulkan program needs besides this
 * plugin's own SPIR-V (spirv.h) lives behind these structures; nothing of them crosses the plugin
 * boundary. */
#ifndef PIPECTL_VULKAN_VK_H
#define PIPECTL_VULKAN_VK_H

#include <pthread.h>
#include <stdatomic.h>
#include <vulkan/vulkan.h>

#include "pipectl/backend.h"
#include "runtime/coopmat.h"
#include "runtime/reconverge.h"
#include "spirv/spirv.h"

#define PCTL_VK_SLOTS 64u /* of list_timestamp */

/* ---- instance.c, message.c ---- */

/* What the validation layer complained of since the last check; only filled in debug. */
typedef struct pctl_vk_messages {
	pthread_mutex_t lock;
	uint32_t n_errors;
	char first[1024];
} pctl_vk_messages;

struct pctl_instance {
	const pctl_host *host;
	uint32_t debug;
	const char *cache_dir; /* NULL: caching is off */
	VkInstance vk;	       /* made when devices are first asked for */
	uint32_t api;	       /* the highest version both loader and plugin know */
	VkDebugUtilsMessengerEXT messenger;
	pctl_vk_messages messages;
	VkPhysicalDevice *physical; /* in the stable order of `devices` */
	uint32_t n_physical;
};

pctl_status pctl_vk_start(pctl_instance *inst, const pctl_call *call);
void pctl_vk_stop(pctl_instance *inst);
pctl_status pctl_vk_devices(pctl_instance *inst, const pctl_call *call, uint32_t capacity,
			    pctl_device_info *out, uint32_t *n_out);
void pctl_vk_messages_open(pctl_instance *inst);
void pctl_vk_messages_close(pctl_instance *inst);
void pctl_vk_messenger_describe(pctl_instance *inst, VkDebugUtilsMessengerCreateInfoEXT *out);
/* `status`, or PC3246 when it is PCTL_OK and the validation layer complained meanwhile. */
pctl_status pctl_vk_checked(pctl_instance *inst, const pctl_call *call, pctl_status status);

/* ---- memory.c ---- */

typedef struct pctl_vk_block pctl_vk_block;

/* A piece of device memory. map is NULL where the host cannot see it. */
typedef struct pctl_vk_memory {
	VkDeviceMemory handle;
	VkDeviceSize offset;
	VkDeviceSize size;
	uint8_t *map;
	pctl_vk_block *block; /* NULL: an allocation of its own */
} pctl_vk_memory;

enum { PCTL_VK_MEMORY_DEVICE, PCTL_VK_MEMORY_HOST };

pctl_status pctl_vk_memory_take(pctl_device *dev, const pctl_call *call, uint32_t kind,
				const VkMemoryRequirements *need, pctl_vk_memory *out);
void pctl_vk_memory_give(pctl_device *dev, pctl_vk_memory *m);
void pctl_vk_memory_close(pctl_device *dev);
int pctl_vk_memory_mapped(const pctl_device *dev); /* buffers are host memory: no staging */

/* ---- sync.c: one queue, one rising number ---- */

typedef struct pctl_vk_fence {
	VkFence fence;
	uint64_t value; /* 0: free */
} pctl_vk_fence;

typedef struct pctl_vk_sync {
	VkSemaphore timeline; /* or fences, where there are no timeline semaphores */
	PFN_vkWaitSemaphores wait;
	uint64_t last;	  /* submitted */
	uint64_t reached; /* known to have finished */
	pctl_vk_fence *fences;
	uint32_t n_fences;
} pctl_vk_sync;

pctl_status pctl_vk_sync_open(pctl_device *dev, const pctl_call *call);
void pctl_vk_sync_close(pctl_device *dev);
pctl_status pctl_vk_sync_submit(pctl_device *dev, const pctl_call *call,
				const VkCommandBuffer *cmds, uint32_t n, uint64_t *value);
pctl_status pctl_vk_sync_wait(pctl_device *dev, const pctl_call *call, uint64_t value,
			      uint64_t timeout_ns, int *done);
/* Wait without end, polling the call's cancel test. */
pctl_status pctl_vk_sync_finish(pctl_device *dev, const pctl_call *call, uint64_t value);

/* ---- staging.c ---- */

#define PCTL_VK_STAGE_BYTES (8u << 20)

typedef struct pctl_vk_stage {
	VkBuffer buffer;
	pctl_vk_memory memory;
	VkCommandBuffer cmd;
	uint64_t value; /* of the submit that uses it */
} pctl_vk_stage;

pctl_status pctl_vk_stage_write(pctl_device *dev, const pctl_call *call, VkBuffer to,
				uint64_t offset, const uint8_t *data, uint64_t n_bytes);
pctl_status pctl_vk_stage_read(pctl_device *dev, const pctl_call *call, VkBuffer from,
			       uint64_t offset, uint8_t *data, uint64_t n_bytes);
pctl_status pctl_vk_stage_clear(pctl_device *dev, const pctl_call *call, VkBuffer buffer);
void pctl_vk_stage_close(pctl_device *dev);

/* ---- device.c ---- */

/* Optional things this device has, all of them enabled. */
typedef struct pctl_vk_features {
	uint32_t int64;
	uint32_t timeline;
	uint32_t memory_model;
	uint32_t robustness2;
	uint32_t uniform_layout; /* uniform blocks laid out like storage blocks */
	uint32_t dot4;		 /* products of packed bytes are instructions */
	uint32_t
		subgroups; /* all kinds of their operations, and full ones of subgroup_size lanes in every workgroup */
	uint32_t
		reconverges, /* lanes that parted meet again where they would in a program of one */
		uniform_flow; /* lanes that parted meet again where the construct ends (subgroups) */
	uint32_t tiles;	      /* products of matrix tiles, a bit each (pctl_vk_tile_bit) */
	uint32_t required_size; /* pipelines must ask for that size: the device has others */
	uint32_t float64, float16;
	uint32_t storage16; /* 16 bits in storage and uniform blocks */
	pctl_spv_controls controls;
} pctl_vk_features;

typedef struct pctl_vk_ticket pctl_vk_ticket;

struct pctl_device {
	pctl_instance *inst;
	VkPhysicalDevice physical;
	VkPhysicalDeviceProperties props;
	VkPhysicalDeviceMemoryProperties memory;
	VkPhysicalDeviceDriverProperties driver;
	VkPhysicalDeviceIDProperties ids;
	uint32_t subgroup_size;
	uint64_t max_allocation;
	pctl_vk_features has;
	pctl_spv_options spirv;
	pctl_device_caps caps;
	uint32_t family;
	uint32_t timestamp_bits;
	VkDevice vk;
	VkQueue queue;
	VkCommandPool pool;
	VkCommandBuffer around; /* a barrier for before and after lists: everything, the host too */
	VkCommandBuffer between; /* between runs of a list that only dispatches */
	uint32_t lost;
	pctl_vk_sync sync;
	pctl_vk_stage stages[2];
	pctl_vk_block *blocks;
	pctl_buffer *dummy; /* stands behind empty bindings */
	pctl_kernel *clamp; /* of indirect dispatches, made when first needed */
	pthread_mutex_t tickets_lock;
	pctl_vk_ticket *tickets; /* oldest first */
	uint64_t last_ticket;
};

pctl_status pctl_vk_device_open(pctl_instance *inst, const pctl_call *call, uint32_t index,
				pctl_device **out);
void pctl_vk_device_close(pctl_device *dev);
/* The status and diagnostic of a failed Vulkan call; notes a lost device. */
pctl_status pctl_vk_fail(pctl_device *dev, const pctl_call *call, VkResult r, const char *what);

/* ---- features.c, identity.c ---- */

void pctl_vk_features_read(pctl_device *dev);
/* Enable what was found: fills the create info's chain and extension names out of `room`. */
typedef struct pctl_vk_feature_room {
	VkPhysicalDeviceFeatures2 core;
	VkPhysicalDeviceTimelineSemaphoreFeatures timeline;
	VkPhysicalDeviceVulkanMemoryModelFeatures model;
	VkPhysicalDeviceUniformBufferStandardLayoutFeatures layout;
	VkPhysicalDeviceRobustness2FeaturesEXT robust;
	VkPhysicalDeviceShaderIntegerDotProductFeatures dot;
	VkPhysicalDevice16BitStorageFeatures storage16;
	VkPhysicalDeviceShaderFloat16Int8Features float16;
	VkPhysicalDeviceSubgroupSizeControlFeatures subgroups;
	VkPhysicalDeviceShaderSubgroupUniformControlFlowFeaturesKHR flow;
	coopmat_features tiles;
	reconverge_features reconverge;
	const char *extensions[11];
	uint32_t n_extensions;
} pctl_vk_feature_room;
/* Which bit a product of M rows, N columns and K components is. */
static inline uint32_t pctl_vk_tile_bit(uint32_t m, uint32_t n, uint32_t k, int is_signed)
{
	return 1u << ((m == 16) + 2 * (n == 16) + 4 * (k == 32) + 8 * (is_signed != 0));
}
void pctl_vk_features_enable(pctl_device *dev, pctl_vk_feature_room *room);
void pctl_vk_caps_fill(pctl_device *dev);
pctl_status pctl_vk_identity(pctl_device *dev, const pctl_call *call, uint32_t capacity,
			     pctl_key_value *out, uint32_t *n_out);
pctl_status pctl_vk_caps(pctl_device *dev, const pctl_call *call, pctl_device_caps *out);

/* ---- buffer.c ---- */

#define PCTL_VK_BUFFER_USAGE                                                       \
	(VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | \
	 VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |  \
	 VK_BUFFER_USAGE_TRANSFER_DST_BIT)

struct pctl_buffer {
	pctl_device *dev;
	uint64_t n_bytes;
	uint32_t usage;
	VkBuffer vk; /* VK_NULL_HANDLE when n_bytes is 0 */
	pctl_vk_memory memory;
};

pctl_status pctl_vk_buffer_create(pctl_device *dev, const pctl_call *call, uint64_t n_bytes,
				  uint32_t usage, pctl_buffer **out);
void pctl_vk_buffer_destroy(pctl_device *dev, pctl_buffer *buf);
pctl_status pctl_vk_buffer_write(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				 uint64_t offset, const void *data, uint64_t n_bytes);
pctl_status pctl_vk_buffer_read(pctl_device *dev, const pctl_call *call, pctl_buffer *buf,
				uint64_t offset, void *data, uint64_t n_bytes);
/* Does [offset, offset + n_bytes) lie in buf, and has it the usage bits? */
pctl_status pctl_vk_range_check(pctl_device *dev, const pctl_call *call, const pctl_buffer *buf,
				uint64_t offset, uint64_t n_bytes, uint32_t usage,
				const char *what);

/* ---- support.c, kernel.c, cache.c, validate.c ---- */

/* Why the device cannot run a decoded program: fills *out, supported 1 when it can. */
void pctl_vk_support(const pctl_device *dev, const pctl_program *p, pctl_support *out);
pctl_status pctl_vk_supports(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
			     uint64_t n, pctl_support *out);

/* The kernel once more, compiled for a set of variables bound to nothing. */
typedef struct pctl_vk_variant {
	uint64_t null_vars;
	VkPipeline pipeline;
} pctl_vk_variant;

struct pctl_kernel {
	pctl_device *dev;
	pctl_program *program;
	pctl_spv_interface interface;
	uint64_t hash[2];    /* of the wire form */
	pctl_buffer *tables; /* NULL: the program has none */
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkPipelineCache cache;
	pctl_vk_variant *variants;
	uint32_t n_variants;
};

pctl_status pctl_vk_kernel_build(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				 uint64_t n, uint32_t flags, const void *cache,
				 uint64_t cache_bytes, pctl_kernel **out);
/* The same from a program at hand, which the kernel then owns, also when this fails. */
pctl_status pctl_vk_kernel_make(pctl_device *dev, const pctl_call *call, pctl_program *program,
				const uint64_t hash[2], const void *cache, uint64_t cache_bytes,
				pctl_kernel **out);
void pctl_vk_kernel_destroy(pctl_device *dev, pctl_kernel *k);
pctl_status pctl_vk_kernel_source(pctl_device *dev, const pctl_call *call, const uint8_t *wire,
				  uint64_t n, uint64_t capacity, char *out, uint64_t *n_out,
				  char *language);
pctl_status pctl_vk_kernel_cache(pctl_device *dev, const pctl_call *call, pctl_kernel *k,
				 uint64_t capacity, void *out, uint64_t *n_out);
pctl_status pctl_vk_kernel_variant(pctl_kernel *k, const pctl_call *call, uint64_t null_vars,
				   VkPipeline *out);

void pctl_vk_hash(const void *data, uint64_t n, uint64_t out[2]);
/* The payload of a cache blob made by this plugin for this device and `hash`, or NULL. */
const uint8_t *pctl_vk_blob_open(const pctl_device *dev, const uint64_t hash[2],
				 const uint8_t *blob, uint64_t n, uint64_t *n_payload);
/* The blob of a pipeline cache, released with free(); NULL when there is nothing to keep. */
uint8_t *pctl_vk_blob_make(const pctl_device *dev, const uint64_t hash[2], VkPipelineCache cache,
			   uint64_t *n);
uint8_t *pctl_vk_cache_load(const pctl_device *dev, const uint64_t hash[2], uint64_t *n);
void pctl_vk_cache_save(const pctl_device *dev, const uint64_t hash[2], const uint8_t *blob,
			uint64_t n);

/* As text for people: *n_out bytes of it, up to capacity of them copied. */
pctl_status pctl_vk_disassemble(pctl_device *dev, const pctl_call *call,
				const pctl_spv_words *module, uint64_t capacity, char *out,
				uint64_t *n_out);
pctl_status pctl_vk_validate(pctl_device *dev, const pctl_call *call, const pctl_spv_words *module);

/* ---- list.c, bind.c, indirect.c ---- */

enum { PCTL_VK_LIST_RECORDING, PCTL_VK_LIST_READY, PCTL_VK_LIST_BROKEN };

struct pctl_list {
	pctl_device *dev;
	uint32_t state;
	uint32_t under_way; /* a submit of it has not been waited for */
	VkCommandBuffer cmd;
	VkCommandBuffer start; /* resets and writes the first timestamp; once a submit */
	VkQueryPool queries;   /* slots, then start and end; VK_NULL_HANDLE without timestamps */
	uint64_t slots;	       /* bit s: slot s is used */
	uint32_t stages;       /* VkPipelineStageFlags with work since the last list_barrier */
	uint32_t all_stages;   /* with work anywhere in the list */
	uint32_t owed[2];      /* stages a barrier is still owed for, to compute and to transfers */
	VkDescriptorPool *pools;
	uint32_t n_pools;
	uint32_t sets_left;    /* in the newest pool */
	pctl_buffer **scratch; /* counts of indirect dispatches */
	uint32_t n_scratch;
};

pctl_status pctl_vk_list_begin(pctl_device *dev, const pctl_call *call, pctl_list **out);
void pctl_vk_list_destroy(pctl_device *dev, pctl_list *l);
pctl_status pctl_vk_list_dispatch(pctl_list *l, const pctl_call *call, pctl_kernel *k,
				  const pctl_binding *bindings, uint32_t n_bindings,
				  const uint32_t groups[3]);
pctl_status pctl_vk_list_dispatch_indirect(pctl_list *l, const pctl_call *call, pctl_kernel *k,
					   const pctl_binding *bindings, uint32_t n_bindings,
					   pctl_buffer *buf, uint64_t offset,
					   const uint32_t limit[3]);
pctl_status pctl_vk_list_copy(pctl_list *l, const pctl_call *call, pctl_buffer *from,
			      uint64_t from_offset, pctl_buffer *to, uint64_t to_offset,
			      uint64_t n_bytes);
pctl_status pctl_vk_list_fill(pctl_list *l, const pctl_call *call, pctl_buffer *buf,
			      uint64_t offset, uint64_t n_bytes, uint32_t word);
pctl_status pctl_vk_list_barrier(pctl_list *l, const pctl_call *call);
pctl_status pctl_vk_list_timestamp(pctl_list *l, const pctl_call *call, uint32_t slot);
pctl_status pctl_vk_list_end(pctl_list *l, const pctl_call *call);
/* Is the list being recorded? */
pctl_status pctl_vk_list_open(const pctl_list *l, const pctl_call *call);
/* Keep what a recording call ended with: after an error the list is only good for destroy. */
pctl_status pctl_vk_list_note(pctl_list *l, pctl_status status);
/* To be called before each command of the stage: records the barrier it is owed, notes the work. */
void pctl_vk_list_work(pctl_list *l, VkPipelineStageFlags stage);
void pctl_vk_barrier(VkCommandBuffer cmd, VkPipelineStageFlags from, VkPipelineStageFlags to);

/* Check the bindings, bind pipeline, descriptors and lengths: all of a dispatch but the dispatch.
 */
pctl_status pctl_vk_bind(pctl_list *l, const pctl_call *call, pctl_kernel *k,
			 const pctl_binding *bindings, uint32_t n_bindings);
/* Run a pipeline of the kernel over no workgroups, so that a driver whose compiler works at a pipeline's first dispatch
 * (llvmpipe) is through with it: what a build may take, time and memory, then holds for all of it. */
pctl_status pctl_vk_warm(pctl_kernel *k, const pctl_call *call, VkPipeline pipeline);
/* Record the clamped counts; *out holds them at *offset when the dispatch is recorded. */
pctl_status pctl_vk_clamp(pctl_list *l, const pctl_call *call, pctl_buffer *buf, uint64_t offset,
			  const uint32_t limit[3], VkBuffer *out, VkDeviceSize *out_offset);

/* ---- submit.c ---- */

pctl_status pctl_vk_submit(pctl_device *dev, const pctl_call *call, pctl_list *l, uint32_t times,
			   uint64_t *ticket);
pctl_status pctl_vk_wait(pctl_device *dev, const pctl_call *call, uint64_t ticket,
			 uint64_t timeout_ns, pctl_completion *out);
void pctl_vk_cancel(pctl_device *dev, uint64_t ticket);
void pctl_vk_tickets_close(pctl_device *dev);

#endif
