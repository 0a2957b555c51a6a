/* SPDX-License-Identifier: MIT */
#include "etcd/wire.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "message.h"

enum { ERROR_BYTES_MAX = 512, ANSWER_BYTES_MAX = 256 * 1024 * 1024 };

/* The codes of gRPC that matter here. */
enum { CODE_DEADLINE_EXCEEDED = 4, CODE_UNAVAILABLE = 14 };

struct wire {
	const struct store *store;
	CURL *curl;
	struct curl_slist *headers;
	size_t member; /* the endpoint that answered last */
	char error[ERROR_BYTES_MAX];
	char *bytes; /* of the answer */
	size_t length;
};

static size_t
receive(char *bytes, size_t size, size_t n, void *arg)
{
	struct wire *wire = arg;
	const size_t length = size * n;
	char *all = length > ANSWER_BYTES_MAX - wire->length ? NULL : realloc(wire->bytes, wire->length + length + 1);
	if (all == NULL)
		return 0; /* an error of libcurl */
	memcpy(all + wire->length, bytes, length);
	wire->bytes = all;
	wire->length += length;
	return length;
}

static void
set_certificates(CURL *curl)
{
	static const struct {
		const char *variable;
		CURLoption option;
	} files[] = {
		{"ETCDCTL_CACERT", CURLOPT_CAINFO},
		{"ETCDCTL_CERT", CURLOPT_SSLCERT},
		{"ETCDCTL_KEY", CURLOPT_SSLKEY},
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		const char *file = getenv(files[i].variable);
		if (file != NULL && file[0] != '\0')
			curl_easy_setopt(curl, files[i].option, file);
	}
}

struct wire *
wire_open(const struct store *store)
{
	struct wire *wire = calloc(1, sizeof(*wire));
	if (wire == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || (wire->curl = curl_easy_init()) == NULL
	    || (wire->headers = curl_slist_append(NULL, "Content-Type: application/json")) == NULL)
		die_error(store->operand, -ENOMEM);
	wire->store = store;
	curl_easy_setopt(wire->curl, CURLOPT_HTTPHEADER, wire->headers);
	curl_easy_setopt(wire->curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(wire->curl, CURLOPT_WRITEDATA, wire);
	curl_easy_setopt(wire->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(wire->curl, CURLOPT_NOPROXY, "*"); /* as etcdctl: a store is no web site */
	set_certificates(wire->curl);
	return wire;
}

void
wire_close(struct wire *wire)
{
	curl_easy_cleanup(wire->curl);
	curl_slist_free_all(wire->headers);
	free(wire->bytes);
	free(wire);
}

const char *
wire_error(const struct wire *wire)
{
	return wire->error;
}

/* ---- one attempt ---- */

enum attempt { ATTEMPT_DONE, ATTEMPT_REFUSED, ATTEMPT_UNSENT, ATTEMPT_LOST };

static const char *
endpoint_of(const struct wire *wire)
{
	return wire->store->endpoints[wire->member];
}

static enum attempt
explain_failure(struct wire *wire, CURLcode code)
{
	const char *endpoint = endpoint_of(wire);
	const char *host = strstr(endpoint, "//") + 2;
	const bool tls = strncmp(endpoint, "https:", strlen("https:")) == 0;
	snprintf(wire->error, sizeof(wire->error), "%s", curl_easy_strerror(code));
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return ATTEMPT_UNSENT;
	case CURLE_SSL_CONNECT_ERROR:
		snprintf(wire->error, sizeof(wire->error),
		         "%s does not answer by TLS (without TLS, the name begins with 'etcd://', the endpoint with 'http://')",
		         host);
		return ATTEMPT_REFUSED;
	case CURLE_PEER_FAILED_VERIFICATION:
		snprintf(
			wire->error, sizeof(wire->error),
			"the certificate of %s is not accepted (set ETCDCTL_CACERT to the file of the authority that signed it)",
			host);
		return ATTEMPT_REFUSED;
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		snprintf(wire->error, sizeof(wire->error), "%s (correct ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY)",
		         curl_easy_strerror(code));
		return ATTEMPT_REFUSED;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		snprintf(wire->error, sizeof(wire->error), "%s answers, but is not etcd (correct the endpoint)", host);
		return ATTEMPT_REFUSED;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		if (!tls) /* so does a member that expects TLS, beside one that ends */
			snprintf(wire->error, sizeof(wire->error), "%s ends the connection (does it expect TLS, 'etcds://'?)",
			         host);
		return ATTEMPT_LOST;
	default:
		return ATTEMPT_LOST;
	}
}

/* An error of the gateway is {"error": TEXT, "code": N}, or {"code": N, "message": TEXT}. */
static enum attempt
read_answer(struct wire *wire, json_t **answer)
{
	const char *host = strstr(endpoint_of(wire), "//") + 2;
	long status = 0;
	curl_easy_getinfo(wire->curl, CURLINFO_RESPONSE_CODE, &status);
	json_t *json = json_loadb(wire->bytes == NULL ? "" : wire->bytes, wire->length, 0, NULL);
	const json_t *code = json_object_get(json, "code");
	const json_t *error = json_object_get(json, "error");
	const json_t *text = json_is_string(error) ? error : json_object_get(json, "message");
	if (status == 200 && json_is_object(json) && code == NULL) {
		*answer = json;
		return ATTEMPT_DONE;
	}
	const json_int_t number = json_integer_value(code);
	if (json_is_integer(code) && json_is_string(text))
		snprintf(wire->error, sizeof(wire->error), "%s: %s", host, json_string_value(text));
	else if (status == 400 && wire->length > 0 && strncmp(endpoint_of(wire), "http:", 5) == 0
	         && strstr(wire->bytes, "HTTPS") != NULL)
		snprintf(wire->error, sizeof(wire->error), "%s expects TLS (use 'etcds://', or 'https://' in the endpoint)",
		         host);
	else
		snprintf(
			wire->error, sizeof(wire->error),
			"%s answers, but not as etcd: HTTP status %ld (correct the endpoint; etcd before 3.5 with a configuration "
			"file needs 'enable-grpc-gateway: true')",
			host, status);
	json_decref(json);
	return number == CODE_UNAVAILABLE || number == CODE_DEADLINE_EXCEEDED ? ATTEMPT_LOST : ATTEMPT_REFUSED;
}

/* `body` NULL: a GET. */
static enum attempt
attempt(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns, json_t **answer)
{
	char url[ENDPOINT_BYTES_MAX + 64];
	const long timeout_ms = (long)(timeout_ns / NS_PER_MS) + 1;
	snprintf(url, sizeof(url), "%s%s", endpoint_of(wire), path);
	wire->length = 0;
	curl_easy_setopt(wire->curl, CURLOPT_URL, url);
	curl_easy_setopt(wire->curl, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(wire->curl, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	curl_easy_setopt(wire->curl, CURLOPT_HTTPGET, 1L);
	if (body != NULL) {
		curl_easy_setopt(wire->curl, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(wire->curl, CURLOPT_POSTFIELDSIZE, -1L);
	}
	const CURLcode code = curl_easy_perform(wire->curl);
	return code == CURLE_OK ? read_answer(wire, answer) : explain_failure(wire, code);
}

/* ---- all attempts ---- */

/* An attempt without time would fail for that reason, and hide the true one. */
bool
wire_pause(uint64_t deadline_ns)
{
	enum { PAUSE_MS = 100, ATTEMPT_MS_MIN = 400 };
	const uint64_t end = monotonic_ns() + PAUSE_MS * NS_PER_MS;
	const struct timespec until = to_timespec(end);
	if (end + ATTEMPT_MS_MIN * NS_PER_MS >= deadline_ns)
		return false;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	return true;
}

/* A member that does not answer at all must leave time for the others. */
static enum outcome
ask(struct wire *wire, const char *path, const char *body, enum effect effect, uint64_t deadline_ns, json_t **answer)
{
	const size_t members = wire->store->endpoints_n;
	bool lost = false;
	for (size_t tried = 1;; tried++) {
		const uint64_t now = monotonic_ns();
		const uint64_t left = deadline_ns > now ? deadline_ns - now : 0;
		const size_t rest = tried < members ? members - tried + 1 : 1;
		const enum attempt end = attempt(wire, path, body, left / rest, answer);
		if (end == ATTEMPT_DONE)
			return OUTCOME_DONE;
		if (end == ATTEMPT_REFUSED)
			return OUTCOME_REFUSED;
		wire->member = (wire->member + 1) % members;
		lost = lost || end == ATTEMPT_LOST;
		if (lost && effect == EFFECT_WRITES)
			return OUTCOME_LOST;
		if (tried % members == 0 && !wire_pause(deadline_ns))
			return lost ? OUTCOME_LOST : OUTCOME_UNREACHED;
	}
}

enum outcome
wire_post(struct wire *wire, const char *path, enum effect effect, json_t *request, uint64_t deadline_ns,
          json_t **answer)
{
	char *body = json_dumps(request, JSON_COMPACT);
	json_decref(request);
	if (body == NULL)
		die_error(wire->store->operand, -ENOMEM);
	const enum outcome outcome = ask(wire, path, body, effect, deadline_ns, answer);
	free(body);
	return outcome;
}

enum outcome
wire_get(struct wire *wire, const char *path, uint64_t deadline_ns, json_t **answer)
{
	return ask(wire, path, NULL, EFFECT_READS, deadline_ns, answer);
}
