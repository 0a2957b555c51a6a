/* SPDX-License-Identifier: MIT */
#include "etcd/store.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options.h"

/* ---- endpoints ---- */

static bool
is_complete(CURLU *url)
{
	static const CURLUPart unwanted[] = {CURLUPART_USER, CURLUPART_QUERY, CURLUPART_FRAGMENT};
	char *part = NULL;
	bool good = curl_url_get(url, CURLUPART_PORT, &part, 0) == CURLUE_OK;
	curl_free(part);
	for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++) {
		part = NULL;
		good = good && curl_url_get(url, unwanted[i], &part, 0) != CURLUE_OK;
		curl_free(part);
	}
	part = NULL;
	good = good && curl_url_get(url, CURLUPART_PATH, &part, 0) == CURLUE_OK && strcmp(part, "/") == 0;
	curl_free(part);
	return good;
}

static bool
endpoint_is_valid(const char *endpoint)
{
	CURLU *url = curl_url();
	const bool good = url != NULL && curl_url_set(url, CURLUPART_URL, endpoint, 0) == CURLUE_OK && is_complete(url);
	curl_url_cleanup(url);
	return good;
}

const char *
store_variable(const char *variable)
{
	const char *value = getenv(variable);
	return value != NULL && value[0] != '\0' ? value : NULL;
}

/* As etcdctl: an endpoint without a scheme is one for TLS if a certificate is given. */
static const char *
missing_scheme(const char *text)
{
	if (strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0)
		return "";
	const bool is_tls = store_variable("ETCDCTL_CACERT") != NULL || store_variable("ETCDCTL_CERT") != NULL;
	return is_tls ? "https://" : "http://";
}

/* `scheme`: NULL for an endpoint of the environment. */
static void
add_endpoint(struct store *store, const char *scheme, const char *text, size_t length)
{
	if (store->endpoints_n == ENDPOINTS_MAX)
		die(store->operand, "more than %d endpoints (name some members of the store, not all)", ENDPOINTS_MAX);
	char *endpoint = store->endpoints[store->endpoints_n++];
	const int written = snprintf(endpoint, ENDPOINT_BYTES_MAX, "%s%.*s", scheme != NULL ? scheme : missing_scheme(text),
	                             (int)length, text);
	if (written >= ENDPOINT_BYTES_MAX || !endpoint_is_valid(endpoint))
		die(store->operand, "%s'%.*s' is not HOST:PORT (the port of etcd is mostly 2379)",
		    scheme != NULL ? "" : "in ETCDCTL_ENDPOINTS, ", (int)length, text);
	/* A slash at the end, as in "http://host:2379/", would come twice in each URL. */
	if (endpoint[written - 1] == '/')
		endpoint[written - 1] = '\0';
}

static void
add_endpoints(struct store *store, const char *scheme, const char *list, size_t length)
{
	if (memchr(list, '@', length) != NULL) /* not printed, as a password may be there */
		die(NULL, "an endpoint is only HOST:PORT (set ETCDCTL_USER to the user, as in 'man tsem-etcd')");
	for (size_t begin = 0; begin <= length;) {
		const size_t comma = strcspn(list + begin, ",");
		const size_t end = begin + comma < length ? begin + comma : length;
		add_endpoint(store, scheme, list + begin, end - begin);
		begin = end + 1;
	}
}

static void
add_endpoints_of_environment(struct store *store)
{
	const char *list = store_variable("ETCDCTL_ENDPOINTS");
	if (list == NULL)
		die(store->operand, "ETCDCTL_ENDPOINTS is not set (set it to HOST:PORT of the store, or name that as in "
		                    "etcd://HOST:PORT/NAME)");
	add_endpoints(store, NULL, list, strlen(list));
}

/* ---- the name ---- */

/* `text`: what follows the address and the slash: [PREFIX/][NAME[,NAME]]. Returns where the names begin. */
static const char *
parse_path(struct store *store, const char *text)
{
	const char *slash = strrchr(text, '/');
	for (const char *part = text; slash != NULL && part <= slash; part += strcspn(part, "/") + 1) {
		if (!is_name(part, strcspn(part, "/")))
			die(store->operand,
			    "'%.*s' is not a prefix of names (use letters, digits, '.', '_' or '-', not starting with '.' or '-')",
			    (int)(slash - text), text);
	}
	if (slash != NULL
	    && snprintf(store->prefix, PREFIX_BYTES_MAX, "%.*s", (int)(slash - text), text) >= PREFIX_BYTES_MAX)
		die(store->operand, "the prefix is too long (use at most %d characters)", PREFIX_BYTES_MAX - 1);
	return slash == NULL ? text : slash + 1;
}

static const char *
parse_address(struct store *store, const char *scheme, const char *text)
{
	const char *slash = strchr(text, '/');
	if (slash == NULL)
		die(store->operand,
		    "not a name: a slash is missing (use etcd://HOST:PORT/NAME, or etcd://HOST:PORT/ for the store)");
	add_endpoints(store, scheme, text, (size_t)(slash - text));
	return parse_path(store, slash + 1);
}

/* Returns where the names begin. */
static const char *
parse(struct store *store, const char *operand)
{
	*store = (struct store){.operand = operand, .prefix = "tsem"};
	const char *names = strchr(operand, ':') + 1;
	const bool tls = strncmp(operand, "etcds:", strlen("etcds:")) == 0;
	if (strncmp(names, "//", 2) == 0) {
		names = parse_address(store, tls ? "https://" : "http://", names + 2);
	} else if (tls) {
		die(operand, "etcds: needs the address of the store (use etcds://HOST:PORT/NAME)");
	} else {
		if (strchr(names, '/') != NULL)
			die(operand, "not a name (a prefix needs the address of the store: etcd://HOST:PORT/PREFIX/NAME)");
		add_endpoints_of_environment(store);
	}
	store->name_at = (size_t)(names - operand);
	return names;
}

static void
add_name(struct store *store, const char *text, size_t length)
{
	if (!is_name(text, length))
		die(store->operand,
		    "not a name (use etcd:NAME or etcd://HOST:PORT/NAME, where NAME is 1 to 200 letters, digits, '.', '_' or "
		    "'-', not starting with '.' or '-')");
	if (store->names_n == NAMES_MAX)
		die(store->operand, "more than %d names (run one 'tsem run' inside another)", NAMES_MAX);
	char *name = store->names[store->names_n];
	snprintf(name, NAME_TEXT_MAX, "%.*s", (int)length, text);
	for (size_t i = 0; i < store->names_n; i++) {
		if (strcmp(store->names[i], name) == 0)
			die(store->operand, "'%s' is named twice (use -k for several permits of one semaphore)", name);
	}
	store->names_n++;
}

void
store_parse_name(struct store *store, const char *operand)
{
	const char *name = parse(store, operand);
	add_name(store, name, strlen(name));
}

void
store_parse_names(struct store *store, const char *operand)
{
	const char *name = parse(store, operand);
	for (;;) {
		const size_t length = strcspn(name, ",");
		add_name(store, name, length);
		if (name[length] == '\0')
			return;
		name += length + 1;
	}
}

void
store_parse_store(struct store *store, const char *operand)
{
	if (parse(store, operand)[0] != '\0')
		die(operand, "this names a semaphore (use '%.*s' for the store)", (int)store->name_at, operand);
}

void
store_operand(const struct store *store, const char *name, char operand[OPERAND_TEXT_MAX])
{
	snprintf(operand, OPERAND_TEXT_MAX, "%.*s%s", (int)store->name_at, store->operand, name);
}

const char *
store_endpoints(const struct store *store)
{
	static char text[ENDPOINTS_MAX * ENDPOINT_BYTES_MAX];
	size_t length = 0;
	for (size_t i = 0; i < store->endpoints_n; i++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s", i > 0 ? ", " : "",
		                           strstr(store->endpoints[i], "//") + 2);
	return text;
}
