/* Signatures of messages, computed once (verify.h). */
#include "chain/accounts/verify.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef PCTL_HAVE_SODIUM
#include <sodium.h>
#endif

#include "chain/accounts/account.h"
#include "runtime/cas/sign.h"

/* ---- one signature ------------------------------------------------------------------------- */

int pctl_message_signature_is_right(const uint8_t *key, const void *data, uint64_t n,
				    const uint8_t *signature)
{
	/* R stands first, in the encoding of a key. */
	if (!pctl_account_key_is_fit(key) || !pctl_account_key_is_fit(signature))
		return 0;
#ifdef PCTL_HAVE_SODIUM
	return crypto_sign_verify_detached(signature, data, n, key) == 0;
#else
	return pctl_signature_is_of(key, data, n, signature);
#endif
}

/* ---- what was found right ------------------------------------------------------------------ */

#define PLACES 8192u /* a power of two */
#define OF_A_PLACE 8u

typedef struct place {
	uint8_t digests[OF_A_PLACE][PCTL_DIGEST_BYTES];
	uint32_t n, next;
} place;

struct pctl_verified {
	pthread_mutex_t lock;
	place *places;
	atomic_uint_fast64_t computed, known;
};

pctl_status pctl_verified_create(const pctl_call *call, pctl_verified **out)
{
	pctl_verified *v = calloc(1, sizeof(*v));

	*out = NULL;
	if (v == NULL || (v->places = calloc(PLACES, sizeof(*v->places))) == NULL ||
	    pthread_mutex_init(&v->lock, NULL) != 0) {
		free(v == NULL ? NULL : v->places);
		free(v);
		return pctl_no_memory(call, "signatures");
	}
#ifdef PCTL_HAVE_SODIUM
	if (sodium_init() < 0) {
		pctl_verified_destroy(v);
		return pctl_refuse(call, PC1_INTERNAL, "libsodium does not start");
	}
#endif
	*out = v;
	return PCTL_OK;
}

void pctl_verified_destroy(pctl_verified *v)
{
	if (v == NULL)
		return;
	pthread_mutex_destroy(&v->lock);
	free(v->places);
	free(v);
}

pctl_verified_counts pctl_verified_count(const pctl_verified *v)
{
	return (pctl_verified_counts){atomic_load(&v->computed), atomic_load(&v->known)};
}

static place *place_of(pctl_verified *v, const uint8_t *digest)
{
	return &v->places[(digest[0] | (uint32_t)digest[1] << 8) & (PLACES - 1)];
}

static int is_known(pctl_verified *v, const uint8_t *digest)
{
	const place *p = place_of(v, digest);
	int found = 0;

	pthread_mutex_lock(&v->lock);
	for (uint32_t i = 0; !found && i < p->n; i++)
		found = memcmp(p->digests[i], digest, PCTL_DIGEST_BYTES) == 0;
	pthread_mutex_unlock(&v->lock);
	return found;
}

static void keep(pctl_verified *v, const uint8_t *digest)
{
	place *p = place_of(v, digest);

	pthread_mutex_lock(&v->lock);
	memcpy(p->digests[p->next], digest, PCTL_DIGEST_BYTES);
	p->next = (p->next + 1) % OF_A_PLACE;
	p->n += p->n < OF_A_PLACE;
	pthread_mutex_unlock(&v->lock);
}

int pctl_verified_knows(pctl_verified *v, const void *bytes, uint64_t n)
{
	pctl_cid digest;

	return pctl_cid_of(bytes, n, NULL, &digest) == PCTL_OK && is_known(v, digest.digest);
}

static pctl_status compute(pctl_verified *v, const pctl_request *r, const pctl_call *call,
			   uint32_t *bad)
{
	const pctl_msg_auth *a = &r->auth;
	uint8_t *bytes = NULL;
	uint64_t n = 0;
	pctl_status status = pctl_request_signed(r, call, &bytes, &n);

	for (*bad = 0; status == PCTL_OK && *bad < a->n_signatures; ++*bad) {
		atomic_fetch_add(&v->computed, 1);
		if (!pctl_message_signature_is_right(a->signatures[*bad].key.data, bytes, n,
						     a->signatures[*bad].value.data))
			break;
	}
	free(bytes);
	return status;
}

pctl_status pctl_verified_check(pctl_verified *v, const pctl_request *r, const pctl_call *call,
				uint32_t *bad)
{
	uint64_t n;
	const uint8_t *all = pctl_request_bytes(r, &n);
	pctl_cid digest;
	pctl_status status = pctl_cid_of(all, n, call, &digest);

	*bad = 0;
	if (status == PCTL_OK && all != NULL && is_known(v, digest.digest)) {
		atomic_fetch_add(&v->known, 1);
		*bad = r->auth.n_signatures;
		return PCTL_OK;
	}
	if (status == PCTL_OK)
		status = compute(v, r, call, bad);
	if (status == PCTL_OK && all != NULL && *bad == r->auth.n_signatures)
		keep(v, digest.digest);
	return status;
}
