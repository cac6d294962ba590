/* Signatures: one Ed25519 key of this home, made on first use, and texts that carry their own signature as their last
 * line. A signature says who wrote a record and that no byte of it changed; whether that signer is trusted is decided
 * elsewhere. Ed25519 is RFC 8032's, done by OpenSSL. */
#ifndef PIPECTL_RUNTIME_CAS_SIGN_H
#define PIPECTL_RUNTIME_CAS_SIGN_H

#include "foundation/base/str.h"
#include "pipectl/host.h"

#define PCTL_PUBLIC_KEY_TEXT 65u /* 32 bytes as lower-case hex and a NUL */
#define PCTL_SIGNATURE_TEXT 129u /* 64 bytes */

typedef struct pctl_signer pctl_signer;

/*
 * The key in DIR/signing.pem (PKCS #8, mode 0600), which is made when it is not there. Two processes that make it at
 * once end up with the same one.
 *
 * Errors: PC5011 (no Ed25519 key in the file, or it cannot be read or made).
 */
pctl_status pctl_signer_open(const char *dir, const pctl_call *call, pctl_signer **out);
void pctl_signer_close(pctl_signer *s);
/* The public key as hex. */
const char *pctl_signer_public(const pctl_signer *s);

/* out: the signature of n bytes as hex. */
pctl_status pctl_signer_sign(const pctl_signer *s, const void *data, size_t n,
			     const pctl_call *call, char out[PCTL_SIGNATURE_TEXT]);
/* 1 when `signature` is that of `key` over the n bytes; 0 otherwise, malformed texts too. */
int pctl_signature_valid(const char *key, const void *data, size_t n, const char *signature);

/* The same of bytes: a key of 32, a signature of 64. */
int pctl_signature_is_of(const uint8_t *key, const void *data, size_t n, const uint8_t *signature);

/* Append the line `signature : { key = ".."; value = ".."; };` that covers all of the text before it. */
pctl_status pctl_signer_seal(const pctl_signer *s, pctl_str_buf *text, const pctl_call *call);
/* Check such a text. *n_signed: bytes before the last line; key: who signed. `name` is for the message.
 * Errors: PC5012 (no signature, or it does not fit). */
pctl_status pctl_sealed_check(const char *name, const char *text, size_t n, const pctl_call *call,
			      size_t *n_signed, char key[PCTL_PUBLIC_KEY_TEXT]);

#endif
