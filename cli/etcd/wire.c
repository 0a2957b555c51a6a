/* SPDX-License-Identifier: MIT */
#include "etcd/wire.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "monotonic.h"

enum { MS_MAX = 60 * 1000, ERROR_BYTES_MAX = 512, ANSWER_BYTES_MAX = 256 * 1024 * 1024 };

struct wire {
	const struct store *store;
	CURLM *multi;
	struct curl_slist *headers;
	struct curl_slist *stream_headers;
	size_t member; /* the endpoint that answered last; counts on beyond the last one */
	char error[ERROR_BYTES_MAX];
	uint64_t (*tick)(void *arg);
	void *tick_arg;
};

struct call {
	struct wire *wire;
	CURL *curl;
	size_t member;
	char *body;
	char *bytes; /* of the answer, or of the present line of a stream */
	size_t length;
	bool ended;
	CURLcode code;
	void (*receive)(void *arg, json_t *line);
	void *arg;
};

/* Hands over the complete lines. */
static void
receive_lines(struct call *call)
{
	char *begin = call->bytes;
	char *end;
	while ((end = memchr(begin, '\n', call->length)) != NULL) {
		const size_t length = (size_t)(end - begin);
		json_t *line = json_loadb(begin, length, 0, NULL);
		if (line != NULL)
			call->receive(call->arg, line);
		json_decref(line);
		begin = end + 1;
		call->length -= length + 1;
	}
	memmove(call->bytes, begin, call->length);
}

static size_t
receive(char *bytes, size_t size, size_t n, void *arg)
{
	struct call *call = arg;
	const size_t length = size * n;
	char *all = length > ANSWER_BYTES_MAX - call->length ? NULL : realloc(call->bytes, call->length + length + 1);
	if (all == NULL)
		return 0; /* an error of libcurl */
	memcpy(all + call->length, bytes, length);
	call->bytes = all;
	call->length += length;
	if (call->receive != NULL)
		receive_lines(call);
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
		const char *file = store_variable(files[i].variable);
		if (file != NULL)
			curl_easy_setopt(curl, files[i].option, file);
	}
}

static void
add_header(const struct store *store, struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*list, header);
	if (longer == NULL)
		die_error(store->operand, -ENOMEM);
	*list = longer;
}

struct wire *
wire_open(const struct store *store)
{
	struct wire *wire = calloc(1, sizeof(*wire));
	if (wire == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || (wire->multi = curl_multi_init()) == NULL)
		die_error(store->operand, -ENOMEM);
	add_header(store, &wire->headers, "Content-Type: application/json");
	add_header(store, &wire->headers, "Grpc-Metadata-Hasleader: true");
	add_header(store, &wire->stream_headers, "Content-Type: application/json");
	add_header(store, &wire->stream_headers, "Grpc-Metadata-Hasleader: true");
	/* Otherwise the server of the gateway throws away what it has not read of the body when the answer begins. */
	add_header(store, &wire->stream_headers, "Connection: close");
	wire->store = store;
	return wire;
}

void
wire_close(struct wire *wire)
{
	curl_multi_cleanup(wire->multi);
	curl_slist_free_all(wire->headers);
	curl_slist_free_all(wire->stream_headers);
	free(wire);
}

const char *
wire_error(const struct wire *wire)
{
	return wire->error;
}

/* ---- one attempt ---- */

static const char *
endpoint_of(const struct call *call)
{
	return call->wire->store->endpoints[call->member % call->wire->store->endpoints_n];
}

/* libcurl repeats a request by itself if a connection that it has used before ends without an answer. */
static bool
has_sent(const struct call *call)
{
	long bytes = 0;
	curl_easy_getinfo(call->curl, CURLINFO_REQUEST_SIZE, &bytes);
	return bytes > 0;
}

static enum outcome
explain_failure(const struct call *call)
{
	struct wire *wire = call->wire;
	const CURLcode code = call->code;
	const char *endpoint = endpoint_of(call);
	const char *host = strstr(endpoint, "//") + 2;
	const bool tls = strncmp(endpoint, "https:", strlen("https:")) == 0;
	snprintf(wire->error, sizeof(wire->error), "%s", curl_easy_strerror(code));
	switch (code) {
	case CURLE_COULDNT_CONNECT:
	case CURLE_COULDNT_RESOLVE_HOST:
		return has_sent(call) ? OUTCOME_LOST : OUTCOME_UNREACHED;
	case CURLE_SSL_CONNECT_ERROR:
		snprintf(wire->error, sizeof(wire->error),
		         "%s does not answer by TLS (without TLS, the name begins with 'etcd://', the endpoint with 'http://')",
		         host);
		return OUTCOME_REFUSED;
	case CURLE_PEER_FAILED_VERIFICATION:
		snprintf(
			wire->error, sizeof(wire->error),
			"the certificate of %s is not accepted (set ETCDCTL_CACERT to the file of the authority that signed it)",
			host);
		return OUTCOME_REFUSED;
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		snprintf(wire->error, sizeof(wire->error), "%s (check ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY)",
		         curl_easy_strerror(code));
		return OUTCOME_REFUSED;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		snprintf(wire->error, sizeof(wire->error), "%s answers, but is not etcd (correct the endpoint)", host);
		return OUTCOME_REFUSED;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		/* So does a member that ends, beside one that expects TLS or a certificate. */
		snprintf(wire->error, sizeof(wire->error), "%s ends the connection (does it expect %s?)", host,
		         tls ? "a certificate, ETCDCTL_CERT" : "TLS, 'etcds://'");
		return OUTCOME_LOST;
	default:
		return OUTCOME_LOST;
	}
}

/*
 * The codes of gRPC that say nothing of the request: a member that ends answers with the first two, one with too much to
 * do with the fourth.
 */
static bool
is_outage(json_int_t code)
{
	enum { CANCELLED = 1, UNKNOWN = 2, DEADLINE_EXCEEDED = 4, RESOURCE_EXHAUSTED = 8, UNAVAILABLE = 14 };
	return code == CANCELLED || code == UNKNOWN || code == DEADLINE_EXCEEDED || code == RESOURCE_EXHAUSTED
	       || code == UNAVAILABLE;
}

/* What a proxy answers if it has no member: Bad Gateway, Service Unavailable or Gateway Timeout. */
static bool
is_outage_of_proxy(long status)
{
	return status >= 502 && status <= 504;
}

/* An error of the gateway is {"error": TEXT, "code": N}, or {"code": N, "message": TEXT}. */
static enum outcome
read_answer(const struct call *call, json_t **answer)
{
	struct wire *wire = call->wire;
	const char *host = strstr(endpoint_of(call), "//") + 2;
	long status = 0;
	curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
	json_t *json = json_loadb(call->bytes == NULL ? "" : call->bytes, call->length, 0, NULL);
	const json_t *code = json_object_get(json, "code");
	const json_t *error = json_object_get(json, "error");
	const json_t *text = json_is_string(error) ? error : json_object_get(json, "message");
	const bool has_header = json_object_get(json, "header") != NULL || json_object_get(json, "result") != NULL;
	if (status == 200 && (has_header || (call->body == NULL && json_is_object(json)))) {
		*answer = json;
		return OUTCOME_DONE;
	}
	const bool lost = code != NULL ? is_outage(json_integer_value(code)) : is_outage_of_proxy(status);
	if (json_is_integer(code) && json_is_string(text))
		snprintf(wire->error, sizeof(wire->error), "%s: %s", host, json_string_value(text));
	else if (lost)
		snprintf(wire->error, sizeof(wire->error), "%s answers with HTTP status %ld", host, status);
	else if (status == 400 && call->bytes != NULL && strncmp(endpoint_of(call), "http:", 5) == 0
	         && memmem(call->bytes, call->length, "HTTPS", 5) != NULL)
		snprintf(wire->error, sizeof(wire->error), "%s expects TLS (use 'etcds://', or 'https://' in the endpoint)",
		         host);
	else
		snprintf(
			wire->error, sizeof(wire->error),
			"%s answers, but not as etcd: HTTP status %ld (correct the endpoint; etcd before 3.5 with a configuration "
			"file needs 'enable-grpc-gateway: true')",
			host, status);
	json_decref(json);
	return lost ? OUTCOME_LOST : OUTCOME_REFUSED;
}

static void
set_options(struct call *call, const char *path, uint64_t timeout_ns)
{
	CURL *curl = call->curl;
	char url[ENDPOINT_BYTES_MAX + 64];
	const long timeout_ms = (long)(timeout_ns / NS_PER_MS) + 1;
	snprintf(url, sizeof(url), "%s%s", endpoint_of(call), path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER,
	                 call->receive != NULL ? call->wire->stream_headers : call->wire->headers);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, call);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*"); /* as etcdctl: a store is no web site */
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	/* A stream has no time limit, so it must notice that the machine of the member is gone: here within a minute. */
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 10L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 5L);
	if (call->receive == NULL)
		curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms);
	if (call->body != NULL) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call->body);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, -1L);
	}
	/* A thread that waits for a name server is left behind, as libcurl would wait for it longer than a lease lasts. */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	set_certificates(curl);
}

struct call *
call_start(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns,
           void (*receive_line)(void *arg, json_t *line), void *arg)
{
	struct call *call = calloc(1, sizeof(*call));
	if (call == NULL || (call->curl = curl_easy_init()) == NULL
	    || (body != NULL && (call->body = strdup(body)) == NULL))
		die_error(wire->store->operand, -ENOMEM);
	call->wire = wire;
	call->member = wire->member;
	call->receive = receive_line;
	call->arg = arg;
	set_options(call, path, timeout_ns);
	curl_multi_add_handle(wire->multi, call->curl);
	return call;
}

void
call_free(struct call *call)
{
	if (call == NULL)
		return;
	curl_multi_remove_handle(call->wire->multi, call->curl);
	curl_easy_cleanup(call->curl);
	free(call->body);
	free(call->bytes);
	free(call);
}

void
wire_leave_member(struct wire *wire, size_t member)
{
	if (wire->member == member)
		wire->member++;
}

static enum outcome
judge(const struct call *call, json_t **answer)
{
	struct wire *wire = call->wire;
	const enum outcome end = call->code == CURLE_OK ? read_answer(call, answer) : explain_failure(call);
	if (end != OUTCOME_DONE && end != OUTCOME_REFUSED)
		wire_leave_member(wire, call->member);
	return end;
}

bool
call_has_ended(struct call *call, enum outcome *outcome, json_t **answer)
{
	if (call->ended)
		*outcome = judge(call, answer);
	return call->ended;
}

size_t
wire_member(const struct wire *wire)
{
	return wire->member;
}

/* ---- steps ---- */

void
wire_set_tick(struct wire *wire, uint64_t (*tick)(void *arg), void *arg)
{
	wire->tick = tick;
	wire->tick_arg = arg;
}

static void
note_ends(struct wire *wire)
{
	CURLMsg *message;
	int left;
	while ((message = curl_multi_info_read(wire->multi, &left)) != NULL) {
		struct call *call;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
		call->ended = true;
		call->code = message->data.result;
	}
}

static int
ms_until(uint64_t until_ns)
{
	const uint64_t now = monotonic_ns();
	const uint64_t ms = until_ns > now ? (until_ns - now) / NS_PER_MS + 1 : 0;
	return ms < MS_MAX ? (int)ms : MS_MAX;
}

void
wire_step(struct wire *wire, struct curl_waitfd *fds, unsigned n, uint64_t until_ns)
{
	const uint64_t due = wire->tick == NULL ? UINT64_MAX : wire->tick(wire->tick_arg);
	int running;
	curl_multi_poll(wire->multi, fds, n, ms_until(due < until_ns ? due : until_ns), NULL);
	curl_multi_perform(wire->multi, &running);
	note_ends(wire);
}

static enum outcome
attempt(struct wire *wire, const char *path, const char *body, uint64_t timeout_ns, json_t **answer)
{
	struct call *call = call_start(wire, path, body, timeout_ns, NULL, NULL);
	while (!call->ended)
		wire_step(wire, NULL, 0, UINT64_MAX);
	const enum outcome end = judge(call, answer);
	call_free(call);
	return end;
}

/* ---- all attempts ---- */

/* An attempt without time would fail for that reason, and hide the true one. */
bool
wire_pause(struct wire *wire, uint64_t deadline_ns)
{
	enum { PAUSE_MS = 100, ATTEMPT_MS_MIN = 400 };
	const uint64_t end = monotonic_ns() + PAUSE_MS * NS_PER_MS;
	if (end + ATTEMPT_MS_MIN * NS_PER_MS >= deadline_ns)
		return false;
	while (monotonic_ns() < end)
		wire_step(wire, NULL, 0, end);
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
		const enum outcome end = attempt(wire, path, body, left / rest, answer);
		if (end == OUTCOME_DONE)
			return OUTCOME_DONE;
		if (end == OUTCOME_REFUSED)
			return OUTCOME_REFUSED;
		lost = lost || end == OUTCOME_LOST;
		if (lost && effect == EFFECT_WRITES)
			return OUTCOME_LOST;
		if (tried % members == 0 && !wire_pause(wire, deadline_ns))
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
