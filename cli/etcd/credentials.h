/* SPDX-License-Identifier: MIT */
/* The user of the store, and the password. */
#ifndef TSEM_CLI_ETCD_CREDENTIALS_H
#define TSEM_CLI_ETCD_CREDENTIALS_H

struct credentials {
	char *user; /* NULL: none is set */
	char *password;
};

/* Dies if there is a user without a password. `operand`: for the message. */
void credentials_read(struct credentials *credentials, const char *operand);

void credentials_free(struct credentials *credentials);

/* Takes the password out of the environment of what this process executes. */
void credentials_hide(void);

#endif
