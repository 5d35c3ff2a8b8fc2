// The dynamic module that ends a stream cleanly when its provider breaks off.
//
// Envoy's router resets the caller's stream when an upstream is reset after the
// response has begun. The caller of HTTP/1.1 then sees a body that stops in the middle
// of its encoding. Before the reset Envoy informs every HTTP filter of the connection
// manager (the local reply hook), on the same thread and in the same call stack. In
// that moment the HTTP filter "cut" has the network filter "end" of the same
// connection write the error event and the last chunk. They follow all that the codec
// has written. The connection is then closed, as the reset demands.
//
// The event cannot take the usual way: ext_proc would hand it to the gateway's process
// and wait. The end cannot either: the connection manager would destroy the stream
// twice. HTTP/2 has flow control that only the codec knows, so its streams are reset,
// which HTTP/2 can say for each stream.
//
// Where anything is not as expected, nothing is written, and the stream is reset as it
// would be without the module.
//
// The functions named envoy_dynamic_module_* are the application binary interface of
// Envoy's dynamic modules, version 0.2 (Envoy 1.40).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Bytes that Envoy or the module owns. Both sides use the same layout.
typedef struct {
  const char *ptr;
  size_t length;
} span;

// Values of Envoy's enumerations.
enum { proceed = 0 };                               // the status "continue" of every hook
enum { received_response_body = 2 };                // body types
enum { request_header = 0, response_header = 2 };   // header types
enum { request_protocol = 10, connection_id = 28 }; // attributes

extern bool envoy_dynamic_module_callback_http_filter_get_attribute_int(void *filter, int id, uint64_t *value);
extern bool envoy_dynamic_module_callback_http_filter_get_attribute_string(void *filter, int id, span *value);
extern bool envoy_dynamic_module_callback_http_get_body_chunks(void *filter, int body, span *chunks);
extern size_t envoy_dynamic_module_callback_http_get_body_chunks_size(void *filter, int body);
extern bool envoy_dynamic_module_callback_http_get_header(void *filter, int type, span key, span *value, size_t index, size_t *count);
extern bool envoy_dynamic_module_callback_http_set_header(void *filter, int type, span key, span value);
extern uint64_t envoy_dynamic_module_callback_network_filter_get_connection_id(void *filter);
extern void envoy_dynamic_module_callback_network_filter_enable_half_close(void *filter, bool enabled);
extern void envoy_dynamic_module_callback_network_filter_write(void *filter, span data, bool end_stream);

const char *envoy_dynamic_module_on_program_init(void) { return "v0.2.0"; }

// How callers of one path speak: the error event that ends a stream, as the last chunks of a
// body, and what the last piece of a complete response has.
typedef struct {
  char *path;   // the end of the request's path; empty for all
  char *last;   // lines, each between bars: the piece has one of them, or ends with it if it ends with an empty line
  char *chunks; // the event and the last chunk
  size_t length;
} language;

// The configuration of the filter "cut". The first language that fits a request's path counts.
enum { most_languages = 16 };

typedef struct {
  size_t count;
  language languages[most_languages];
  char *text; // what the languages point into
} config;

static const char last_chunk[] = "0\r\n\r\n";

// One stream in the filter "cut".
typedef struct {
  const config *config;
  const language *language; // of the request; NULL if there is none
  bool local;    // Envoy replies by itself
  bool started;  // the response's headers have gone to the caller
  bool finished; // the latest piece of the body ended with the last event of an answer
} stream;

// One connection of a caller, in the filter "end". A connection belongs to one worker
// thread, and so does the list it is in.
typedef struct connection {
  struct connection *previous, *next;
  void *filter;
} connection;

static _Thread_local connection *connections; // all of this worker

static bool starts(span a, const char *b) { return a.length >= strlen(b) && memcmp(a.ptr, b, strlen(b)) == 0; }

static bool ends(span a, const char *b) {
  size_t n = strlen(b);
  return a.length >= n && memcmp(a.ptr + a.length - n, b, n) == 0;
}

// ---- the HTTP filter ----

// cut returns what is before the first separator in *rest, ends it with a zero, and moves *rest
// behind it.
static char *cut(char **rest, char separator) {
  char *begin = *rest, *end = strchr(begin, separator);
  if (end == NULL) return NULL;
  *end = 0;
  *rest = end + 1;
  return begin;
}

void envoy_dynamic_module_on_http_filter_config_destroy(const void *module) {
  config *c = (config *)module;
  for (size_t i = 0; i < c->count; i++) free(c->languages[i].chunks);
  free(c->text);
  free(c);
}

// The text of the configuration has a record for each language, which ends with the byte 0x1e. Its
// fields end with 0x1f: the end of the path, the lines of a last piece, the error event.
const void *envoy_dynamic_module_on_http_filter_config_new(void *envoy, span name, span text) {
  config *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  char *rest = c->text = malloc(text.length + 1);
  if (rest == NULL) {
    free(c);
    return NULL;
  }
  memcpy(rest, text.ptr, text.length);
  rest[text.length] = 0;
  while (*rest != 0 && c->count < most_languages) {
    language *l = &c->languages[c->count];
    l->path = cut(&rest, 0x1f);
    l->last = l->path == NULL ? NULL : cut(&rest, 0x1f);
    char *event = l->last == NULL ? NULL : cut(&rest, 0x1f);
    if (event == NULL || cut(&rest, 0x1e) == NULL) break;
    size_t size = strlen(event), most = size + 64;
    if (size == 0 || (l->chunks = malloc(most)) == NULL) break;
    l->length = (size_t)snprintf(l->chunks, most, "%zx\r\n%s\r\n%s", size, event, last_chunk);
    c->count++;
  }
  if (c->count == 0 || *rest != 0) {
    envoy_dynamic_module_on_http_filter_config_destroy(c);
    return NULL;
  }
  return c;
}

const void *envoy_dynamic_module_on_http_filter_new(const void *c, void *envoy) {
  stream *s = calloc(1, sizeof *s);
  if (s != NULL) s->config = c;
  return s;
}

void envoy_dynamic_module_on_http_filter_destroy(const void *s) { free((void *)s); }

// Envoy's local reply has an id with dashes if the request has no other yet. This gives it
// the form of all ids: req_ and 32 digits.
static void remove_dashes(void *envoy) {
  span name = {"x-request-id", 12}, id = {0};
  char plain[36];
  size_t n = 0;
  if (!envoy_dynamic_module_callback_http_get_header(envoy, response_header, name, &id, 0, NULL) ||
      id.length != sizeof plain + 4 || !starts(id, "req_"))
    return;
  for (size_t i = 0; i < id.length; i++) {
    if (id.ptr[i] == '-') continue;
    if (n == sizeof plain) return;
    plain[n++] = id.ptr[i];
  }
  envoy_dynamic_module_callback_http_set_header(envoy, response_header, name, (span){plain, n});
}

// The filter is the first one for requests, so the path is the caller's.
int envoy_dynamic_module_on_http_filter_request_headers(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  span name = {":path", 5}, path = {0};
  if (!envoy_dynamic_module_callback_http_get_header(envoy, request_header, name, &path, 0, NULL)) return proceed;
  const char *query = memchr(path.ptr, '?', path.length);
  if (query != NULL) path.length = (size_t)(query - path.ptr);
  for (size_t i = 0; i < s->config->count && s->language == NULL; i++)
    if (ends(path, s->config->languages[i].path)) s->language = &s->config->languages[i];
  return proceed;
}

// The filter is the last one before the codec, so the headers leave after this.
int envoy_dynamic_module_on_http_filter_response_headers(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  s->started = !end_stream;
  if (s->local) remove_dashes(envoy);
  return proceed;
}

// completes reports whether a piece is the last one of a response.
static bool completes(const language *l, span piece) {
  for (const char *mark = l->last; *mark != 0;) {
    size_t n = strcspn(mark, "|");
    bool end = n > 1 && mark[n - 1] == '\n' && mark[n - 2] == '\n';
    for (size_t i = end && piece.length >= n ? piece.length - n : 0; n > 0 && i + n <= piece.length; i++)
      if (piece.ptr[i] == *mark && (i == 0 || piece.ptr[i - 1] == '\n') && memcmp(piece.ptr + i, mark, n) == 0) return true;
    mark += n + (mark[n] == '|');
  }
  return false;
}

// A provider may break off after the last event of its answer, or after an error. The caller then has the
// end, and an error event behind it would be wrong.
int envoy_dynamic_module_on_http_filter_response_body(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  span chunks[8];
  size_t n = envoy_dynamic_module_callback_http_get_body_chunks_size(envoy, received_response_body);
  if (n > 0 && n <= sizeof chunks / sizeof chunks[0] &&
      envoy_dynamic_module_callback_http_get_body_chunks(envoy, received_response_body, chunks))
    s->finished = s->language != NULL && completes(s->language, chunks[n - 1]);
  return proceed;
}

// chunked reports whether the response is an event stream that the codec sends in chunks.
static bool chunked(void *envoy) {
  span protocol = {0}, type = {0}, length = {0};
  span content_type = {"content-type", 12}, content_length = {"content-length", 14};
  return envoy_dynamic_module_callback_http_filter_get_attribute_string(envoy, request_protocol, &protocol) &&
         protocol.length == 8 && starts(protocol, "HTTP/1.1") &&
         envoy_dynamic_module_callback_http_get_header(envoy, response_header, content_type, &type, 0, NULL) &&
         starts(type, "text/event-stream") &&
         !envoy_dynamic_module_callback_http_get_header(envoy, response_header, content_length, &length, 0, NULL);
}

static connection *find(uint64_t id) {
  for (connection *c = connections; c != NULL; c = c->next)
    if (envoy_dynamic_module_callback_network_filter_get_connection_id(c->filter) == id) return c;
  return NULL;
}

// Envoy is about to reply by itself. After the response's headers have gone it cannot,
// and resets the stream as soon as all filters have seen this.
int envoy_dynamic_module_on_http_filter_local_reply(void *envoy, const void *module, uint32_t code, span details, bool reset) {
  stream *s = (stream *)module;
  s->local = true;
  uint64_t id = 0;
  // The gateway's process ends a stream of its own accord when a guardrail has blocked it: behind an error event.
  bool blocked = s->finished && starts(details, "guardrail_blocked");
  if (!s->started || s->language == NULL || !(blocked || starts(details, "upstream_reset_after_response_started")) || !chunked(envoy) ||
      !envoy_dynamic_module_callback_http_filter_get_attribute_int(envoy, connection_id, &id))
    return proceed;
  connection *c = find(id);
  if (c == NULL) return proceed;
  span end = {s->language->chunks, s->language->length};
  if (s->finished) end = (span){last_chunk, sizeof last_chunk - 1};
  // Envoy closes the connection a second later. The caller's client must know at once, or
  // it sends its next request on it. Envoy sends a FIN early only on a connection that may
  // be closed by halves.
  envoy_dynamic_module_callback_network_filter_enable_half_close(c->filter, true);
  envoy_dynamic_module_callback_network_filter_write(c->filter, end, true);
  return proceed;
}

// ---- the network filter ----

const void *envoy_dynamic_module_on_network_filter_config_new(void *envoy, span name, span text) { return "end"; }

void envoy_dynamic_module_on_network_filter_config_destroy(const void *c) {}

const void *envoy_dynamic_module_on_network_filter_new(const void *config, void *envoy) {
  connection *c = calloc(1, sizeof *c);
  if (c == NULL) return NULL;
  c->filter = envoy;
  c->next = connections;
  if (connections != NULL) connections->previous = c;
  connections = c;
  return c;
}

void envoy_dynamic_module_on_network_filter_destroy(const void *module) {
  connection *c = (connection *)module;
  if (c->previous != NULL) c->previous->next = c->next;
  else connections = c->next;
  if (c->next != NULL) c->next->previous = c->previous;
  free(c);
}

int envoy_dynamic_module_on_network_filter_new_connection(void *envoy, const void *c) { return proceed; }
int envoy_dynamic_module_on_network_filter_read(void *envoy, const void *c, size_t length, bool end_stream) { return proceed; }
int envoy_dynamic_module_on_network_filter_write(void *envoy, const void *c, size_t length, bool end_stream) { return proceed; }
void envoy_dynamic_module_on_network_filter_event(void *envoy, const void *c, int event) {}

// ---- hooks that Envoy requires of a module with HTTP filters, and that are not used ----

int envoy_dynamic_module_on_http_filter_request_body(void *envoy, const void *s, bool end_stream) { return proceed; }
int envoy_dynamic_module_on_http_filter_request_trailers(void *envoy, const void *s) { return proceed; }
int envoy_dynamic_module_on_http_filter_response_trailers(void *envoy, const void *s) { return proceed; }
void envoy_dynamic_module_on_http_filter_stream_complete(void *envoy, const void *s) {}
void envoy_dynamic_module_on_http_filter_http_callout_done(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_headers(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_data(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_trailers(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_complete(void) {}
void envoy_dynamic_module_on_http_filter_http_stream_reset(void) {}
void envoy_dynamic_module_on_http_filter_scheduled(void) {}
void envoy_dynamic_module_on_http_filter_downstream_above_write_buffer_high_watermark(void) {}
void envoy_dynamic_module_on_http_filter_downstream_below_write_buffer_low_watermark(void) {}
