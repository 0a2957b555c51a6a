/* SPDX-License-Identifier: MIT */
#include "etcd/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "monotonic.h"

enum { ANSWER_BYTES_MAX = 256 * 1024 * 1024 };

struct call {
	struct wire *wire;
	CURL *curl;
	struct curl_slist *headers;
	unsigned token_turn;
	size_t member;
	char *body;
	char *bytes; /* of the answer, or of the present line of a stream */
	size_t length;
	bool ended;
	CURLcode code;
	char error[CURL_ERROR_SIZE]; /* details of libcurl */
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

const char *
wire_error(const struct wire *wire)
{
	return wire->error;
}

/* ---- answers ---- */

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
			"the certificate of %s is not accepted: %s (ETCDCTL_CACERT is the file of the authority that signed it)",
			host, call->error);
		return OUTCOME_REFUSED;
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		snprintf(wire->error, sizeof(wire->error), "%s (check ETCDCTL_CACERT, ETCDCTL_CERT and ETCDCTL_KEY)",
		         call->error[0] != '\0' ? call->error : curl_easy_strerror(code));
		return OUTCOME_REFUSED;
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
		snprintf(wire->error, sizeof(wire->error), "%s answers, but is not etcd (correct the endpoint)", host);
		return OUTCOME_REFUSED;
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
		/* So does a member that ends, beside one that expects TLS or a certificate. */
		snprintf(wire->error, sizeof(wire->error), "%s ends the connection: %s (does it expect %s?)", host, call->error,
		         tls ? "another certificate, ETCDCTL_CERT" : "TLS, 'etcds://'");
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

/* The token has expired, or rights have changed since it was made, or the store asks for users only now. */
static bool
is_of_token(json_int_t code, const char *text)
{
	enum { UNAUTHENTICATED = 16 };
	return code == UNAUTHENTICATED || strstr(text, "auth store is old") != NULL
	       || strstr(text, "user name is empty") != NULL;
}

static const char *
advice_on(const char *text)
{
	static const char *const advice[][2] = {
		{"permission denied", "give the user of ETCDCTL_USER a role with rights to all keys below the prefix"},
		{"user name is empty", "the store asks for a user: set ETCDCTL_USER to NAME:PASSWORD"},
		{"invalid user ID or password", "correct ETCDCTL_USER, ETCDCTL_PASSWORD or TSEM_PASSWORD_FILE"},
		{"database space exceeded", "see 'etcdctl alarm list', and etcd's manual on 'etcdctl compact' and 'defrag'"},
	};
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++) {
		if (strstr(text, advice[i][0]) != NULL)
			return advice[i][1];
	}
	return "see the log of etcd";
}

static void
forget_token(struct wire *wire)
{
	free(wire->token);
	wire->token = NULL;
	wire->token_turn++;
}

static void
note_refusal(const struct call *call, const char *host, json_int_t code, const char *text)
{
	struct wire *wire = call->wire;
	if (is_of_token(code, text) && call->token_turn == wire->token_turn)
		forget_token(wire);
	snprintf(wire->error, sizeof(wire->error), "%s: %s (%s)", host, text, advice_on(text));
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
		note_refusal(call, host, json_integer_value(code), json_string_value(text));
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

/* ---- calls ---- */

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
add_header(struct call *call, const char *header)
{
	struct curl_slist *longer = curl_slist_append(call->headers, header);
	if (longer == NULL)
		die_error(call->wire->store->operand, -ENOMEM);
	call->headers = longer;
}

static void
add_token(struct call *call, const char *token)
{
	char *header;
	if (token == NULL)
		return;
	if (asprintf(&header, "Authorization: %s", token) < 0)
		die_error(call->wire->store->operand, -ENOMEM);
	add_header(call, header);
	free(header);
}

static void
add_headers(struct call *call)
{
	add_header(call, "Content-Type: application/json");
	add_header(call, "Grpc-Metadata-Hasleader: true");
	add_token(call, call->wire->token);
	/* Otherwise the server of the gateway throws away what it has not read of the body when the answer begins. */
	if (call->receive != NULL)
		add_header(call, "Connection: close");
	call->token_turn = call->wire->token_turn;
}

static void
set_options(struct call *call, const char *path, uint64_t timeout_ns)
{
	CURL *curl = call->curl;
	char url[ENDPOINT_BYTES_MAX + 64];
	const long timeout_ms = (long)(timeout_ns / NS_PER_MS) + 1;
	snprintf(url, sizeof(url), "%s%s", endpoint_of(call), path);
	curl_easy_setopt(curl, CURLOPT_URL, url);
	add_headers(call);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, call->headers);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, call);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call->error);
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
	curl_slist_free_all(call->headers);
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
call_take_answer(struct call **call, enum outcome *outcome, json_t **answer)
{
	if (*call == NULL || !(*call)->ended)
		return false;
	*outcome = judge(*call, answer);
	call_free(*call);
	*call = NULL;
	return true;
}

size_t
wire_member(const struct wire *wire)
{
	return wire->member;
}

void
calls_note_ends(struct wire *wire)
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
