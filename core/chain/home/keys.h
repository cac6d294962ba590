/* Private keys of accounts: HOME/accounts/NAME.pem, PKCS #8, encrypted with a passphrase (scrypt, AES-256) unless that was
 * refused; and the author that signs with them what this home sends. Ed25519 by OpenSSL. No state. */
#ifndef PIPECTL_CHAIN_HOME_KEYS_H
#define PIPECTL_CHAIN_HOME_KEYS_H

#include "chain/accounts/account.h"
#include "chain/home/home.h"

#define PCTL_KEY_NAME_SIZE 65u

typedef struct pctl_key_entry {
	char name[PCTL_KEY_NAME_SIZE];	 /* 1 to 64 of [a-z0-9._-] */
	char account[PCTL_ACCOUNT_SIZE]; /* that the key has of itself */
	uint8_t key[PCTL_KEY_BYTES];
	uint32_t is_encrypted;
} pctl_key_entry;

/* A passphrase: the first line of a file; path NULL: of the file that PIPECTL_PASSPHRASE names, and "" where there is
 * none. Released with pctl_passphrase_clear. PC5849: no such file, an empty line, or more than 1,024 bytes. */
typedef struct pctl_passphrase {
	char text[1025];
} pctl_passphrase;
pctl_status pctl_passphrase_read(const char *path, const pctl_call *call, pctl_passphrase *out);
void pctl_passphrase_clear(pctl_passphrase *p);

/* A new key. passphrase "": it is not encrypted. PC5849: the name is taken or cannot be one. */
pctl_status pctl_key_new(pctl_installation *in, const char *name, const pctl_passphrase *passphrase,
			 const pctl_call *call, pctl_key_entry *out);
/* All keys in the order of their names; *out is released with free(). The public key lies beside the private one, so
 * no passphrase is asked. */
pctl_status pctl_keys_list(pctl_installation *in, const pctl_call *call, pctl_key_entry **out,
			   uint32_t *n);

/*
 * Add the signature of key `name` to an encoded request whose `auth` has all but (some) signatures: the canonical bytes of
 * the signed one, released with free(). PC5849 (no such key, wrong passphrase), PC5840 (no `auth` in it), what decoding
 * refuses. A signature that it has already stays.
 */
pctl_status pctl_key_sign(pctl_installation *in, const char *name,
			  const pctl_passphrase *passphrase, const void *request, uint64_t n,
			  const pctl_call *call, uint8_t **out, uint64_t *n_out);

/*
 * The author of a home (pctl_chain_set_author): signs with as many of its keys as the sender asks for, in the order of
 * their names; PC5844 where this home has too few of them. `in` outlives the chain.
 */
void pctl_home_author(pctl_installation *in, pctl_chain *c);

#endif
