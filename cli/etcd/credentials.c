/* SPDX-License-Identifier: MIT */
#include "etcd/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "etcd/store.h"
#include "message.h"

static const char user_variable[] = "ETCDCTL_USER";         /* NAME, or NAME:PASSWORD */
static const char password_variable[] = "ETCDCTL_PASSWORD"; /* instead */
static const char file_variable[] = "TSEM_PASSWORD_FILE";   /* instead: its first line */

static char *
read_password(const char *path)
{
	char *line = NULL;
	size_t size = 0;
	struct stat st;
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	if (file == NULL || fstat(fd, &st) != 0)
		die(path, "cannot read the file of %s: %s (correct the variable)", file_variable, strerror(errno));
	if (!S_ISREG(st.st_mode)) /* the keeper reads it again */
		die(path, "the file of %s is none of text (use a regular file, not a pipe or a directory)", file_variable);
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		die(path, "other users can read or change the file of %s (use 'chmod 600')", file_variable);
	if (getline(&line, &size, file) < 0)
		die(path, "the file of %s is empty (write the password into its first line)", file_variable);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return line;
}

void
credentials_read(struct credentials *credentials, const char *operand)
{
	const char *user = store_variable(user_variable);
	const char *password = store_variable(password_variable);
	const char *path = store_variable(file_variable);
	*credentials = (struct credentials){.user = NULL};
	if (user == NULL)
		return;
	credentials->user = strdup(user);
	char *colon = credentials->user == NULL ? NULL : strchr(credentials->user, ':');
	if (colon != NULL)
		*colon++ = '\0';
	if (colon != NULL || password != NULL)
		credentials->password = strdup(colon != NULL ? colon : password);
	else if (path != NULL)
		credentials->password = read_password(path);
	else
		die(operand, "%s has no password (use NAME:PASSWORD, or a file in %s, which commands of 'tsem run' keep)",
		    user_variable, file_variable);
	if (credentials->user == NULL || credentials->password == NULL)
		die_error(operand, -ENOMEM);
}

void
credentials_free(struct credentials *credentials)
{
	free(credentials->user);
	free(credentials->password);
	*credentials = (struct credentials){.user = NULL};
}

void
credentials_hide(void)
{
	struct credentials own = {.user = NULL};
	const char *user = store_variable(user_variable);
	unsetenv(password_variable);
	if (user == NULL || strchr(user, ':') == NULL)
		return;
	own.user = strndup(user, strcspn(user, ":"));
	if (own.user == NULL || setenv(user_variable, own.user, 1) != 0)
		unsetenv(user_variable);
	credentials_free(&own);
}
