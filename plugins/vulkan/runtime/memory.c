/* Device memory. A driver allows few allocations, so small buffers share blocks; a block is a list
 * of its free ranges, sorted by offset. */
#include <stdlib.h>
#include <string.h>

#include "runtime/vk.h"

#define BLOCK_BYTES (8u << 20)
#define SHARED_BYTES (1u << 20) /* up to this size a buffer shares a block */

typedef struct range {
	VkDeviceSize offset;
	VkDeviceSize size;
} range;

struct pctl_vk_block {
	pctl_vk_block *next;
	VkDeviceMemory handle;
	uint8_t *map;
	uint32_t type;
	range *free;
	uint32_t n_free;
	uint32_t capacity;
	uint32_t n_used; /* pieces handed out; each needs at most one more range when it comes back
			  */
};

int pctl_vk_memory_mapped(const pctl_device *dev)
{
	return dev->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ||
	       dev->props.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU;
}

/* The first type with all of `must` and the most of `wish`; UINT32_MAX when there is none. */
static uint32_t find_type(const pctl_device *dev, uint32_t allowed, VkMemoryPropertyFlags must,
			  VkMemoryPropertyFlags wish)
{
	uint32_t i, best = UINT32_MAX;
	int score, best_score = -1;

	for (i = 0; i < dev->memory.memoryTypeCount; i++) {
		const VkMemoryPropertyFlags f = dev->memory.memoryTypes[i].propertyFlags;

		if (!(allowed >> i & 1) || (f & must) != must)
			continue;
		score = __builtin_popcount(f & wish);
		if (score > best_score) {
			best = i;
			best_score = score;
		}
	}
	return best;
}

static uint32_t type_for(const pctl_device *dev, uint32_t kind, uint32_t allowed)
{
	const VkMemoryPropertyFlags seen =
		VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;

	if (kind == PCTL_VK_MEMORY_HOST)
		return find_type(dev, allowed, seen, VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	if (pctl_vk_memory_mapped(dev))
		return find_type(dev, allowed, seen,
				 VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT |
					 VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
	return find_type(dev, allowed, 0, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
}

/* Memory of a discrete device is not mapped even where it could be: reading it that way is slow. */
static pctl_status allocate(pctl_device *dev, const pctl_call *call, uint32_t kind, uint32_t type,
			    VkDeviceSize size, VkDeviceMemory *out, uint8_t **map)
{
	const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
					   .allocationSize = size,
					   .memoryTypeIndex = type};
	void *at = NULL;
	VkResult r = vkAllocateMemory(dev->vk, &info, NULL, out);

	*map = NULL;
	if (r != VK_SUCCESS) {
		*out = VK_NULL_HANDLE;
		return pctl_vk_fail(dev, call, r, "vkAllocateMemory");
	}
	if (kind == PCTL_VK_MEMORY_HOST || pctl_vk_memory_mapped(dev)) {
		r = vkMapMemory(dev->vk, *out, 0, VK_WHOLE_SIZE, 0, &at);
		if (r != VK_SUCCESS) {
			vkFreeMemory(dev->vk, *out, NULL);
			*out = VK_NULL_HANDLE;
			return pctl_vk_fail(dev, call, r, "vkMapMemory");
		}
		*map = at;
	}
	return PCTL_OK;
}

/* ---- shared blocks ---- */

/* Room for one range more than there can be after the next piece is taken. */
static int reserve(pctl_vk_block *b)
{
	const uint32_t need = b->n_used + 3;
	range *grown;

	if (need <= b->capacity)
		return 1;
	grown = realloc(b->free, 2u * need * sizeof(*grown));
	if (!grown)
		return 0;
	b->free = grown;
	b->capacity = 2 * need;
	return 1;
}

static void insert(pctl_vk_block *b, uint32_t at, range r)
{
	memmove(b->free + at + 1, b->free + at, (b->n_free - at) * sizeof(*b->free));
	b->free[at] = r;
	b->n_free++;
}

static void erase(pctl_vk_block *b, uint32_t at)
{
	b->n_free--;
	memmove(b->free + at, b->free + at + 1, (b->n_free - at) * sizeof(*b->free));
}

static int carve(pctl_vk_block *b, const VkMemoryRequirements *need, pctl_vk_memory *out)
{
	uint32_t i;

	if (!reserve(b))
		return 0;
	for (i = 0; i < b->n_free; i++) {
		const range r = b->free[i];
		const VkDeviceSize start =
			(r.offset + need->alignment - 1) / need->alignment * need->alignment;
		const VkDeviceSize before = start - r.offset;

		if (r.size < before || r.size - before < need->size)
			continue;
		erase(b, i);
		if (r.size - before > need->size)
			insert(b, i, (range){start + need->size, r.size - before - need->size});
		if (before)
			insert(b, i, (range){r.offset, before});
		b->n_used++;
		*out = (pctl_vk_memory){.handle = b->handle,
					.offset = start,
					.size = need->size,
					.map = b->map ? b->map + start : NULL,
					.block = b};
		return 1;
	}
	return 0;
}

static void put_back(pctl_vk_block *b, range r)
{
	uint32_t i = 0;

	while (i < b->n_free && b->free[i].offset < r.offset)
		i++;
	insert(b, i, r);
	if (i + 1 < b->n_free && r.offset + r.size == b->free[i + 1].offset) {
		b->free[i].size += b->free[i + 1].size;
		erase(b, i + 1);
	}
	if (i > 0 && b->free[i - 1].offset + b->free[i - 1].size == r.offset) {
		b->free[i - 1].size += b->free[i].size;
		erase(b, i);
	}
	b->n_used--;
}

static pctl_status new_block(pctl_device *dev, const pctl_call *call, uint32_t type,
			     pctl_vk_block **out)
{
	pctl_vk_block *b = calloc(1, sizeof(*b));
	pctl_status status;

	if (!b || !reserve(b)) {
		free(b);
		return pctl_no_memory(call, "a block of device memory");
	}
	status = allocate(dev, call, PCTL_VK_MEMORY_DEVICE, type, BLOCK_BYTES, &b->handle, &b->map);
	if (status != PCTL_OK) {
		free(b->free);
		free(b);
		return status;
	}
	b->type = type;
	insert(b, 0, (range){0, BLOCK_BYTES});
	b->next = dev->blocks;
	dev->blocks = b;
	*out = b;
	return PCTL_OK;
}

/* ---- for buffers ---- */

pctl_status pctl_vk_memory_take(pctl_device *dev, const pctl_call *call, uint32_t kind,
				const VkMemoryRequirements *need, pctl_vk_memory *out)
{
	const uint32_t type = type_for(dev, kind, need->memoryTypeBits);
	pctl_vk_block *b;
	pctl_status status;

	*out = (pctl_vk_memory){0};
	if (type == UINT32_MAX)
		return pctl_refuse(call, PC3243_VULKAN_DEVICE,
				   "%s has no memory of the needed kind", dev->props.deviceName);
	if (kind == PCTL_VK_MEMORY_HOST || need->size > SHARED_BYTES) {
		status = allocate(dev, call, kind, type, need->size, &out->handle, &out->map);
		out->size = need->size;
		return status;
	}
	for (b = dev->blocks; b; b = b->next)
		if (b->type == type && carve(b, need, out))
			return PCTL_OK;
	status = new_block(dev, call, type, &b);
	if (status == PCTL_OK && !carve(b, need, out))
		status = pctl_no_memory(call, "a piece of device memory");
	return status;
}

static void drop_block(pctl_device *dev, pctl_vk_block *b)
{
	vkFreeMemory(dev->vk, b->handle, NULL);
	free(b->free);
	free(b);
}

/* An empty block is given back, unless it is the last: the next small buffer would want it again.
 */
void pctl_vk_memory_give(pctl_device *dev, pctl_vk_memory *m)
{
	pctl_vk_block **at, *b = m->block;

	if (!b) {
		if (m->handle)
			vkFreeMemory(dev->vk, m->handle, NULL);
	} else {
		put_back(b, (range){m->offset, m->size});
		for (at = &dev->blocks; *at != b; at = &(*at)->next)
			;
		if (b->n_used == 0 && (dev->blocks != b || b->next)) {
			*at = b->next;
			drop_block(dev, b);
		}
	}
	*m = (pctl_vk_memory){0};
}

void pctl_vk_memory_close(pctl_device *dev)
{
	pctl_vk_block *b;

	while ((b = dev->blocks) != NULL) {
		dev->blocks = b->next;
		drop_block(dev, b);
	}
}
