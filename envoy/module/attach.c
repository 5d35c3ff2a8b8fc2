// The dynamic module that takes requests to the gateway's process without gRPC.
//
// The HTTP filter "attach" has the place of ext_proc: it sends the same messages (the
// bytes of ProcessingRequest) and carries out the same answers (ProcessingResponse), over
// connections that the gateway opens to a Unix socket of Envoy. The network filter "link"
// is the end of such a connection. A connection belongs to a worker thread, and serves the
// requests of that thread: nothing here is shared between threads, and nothing has a lock.
//
// On a link, a message is a head of two numbers of 32 bits (the length of what follows
// the head, and the stream), and the bytes of the message. Without bytes, the stream has
// ended for the side that sends it.
//
// Envoy's callback continue_encoding has an effect once for each hook that stopped the
// response. So what has been answered leaves when all that has been received is answered,
// or, if more arrives before that, in the hook of what arrives. See release.
//
// The functions named envoy_dynamic_module_* are the application binary interface of
// Envoy's dynamic modules, version 0.2 (Envoy 1.40).

#include "attach_abi.h"
#include "attach_wire.h"
#include "attach_stream.h"
#include "attach_answers.h"

const char *envoy_dynamic_module_on_program_init(void) { return "v0.2.0"; }

// ---- the HTTP filter ----

// The text of the configuration is a number: how many bytes of a response the gateway may have
// before it answers the headers. It answers them at its limit of a whole response at the latest.
const void *envoy_dynamic_module_on_http_filter_config_new(void *envoy, span name, span text) {
  size_t *limit = malloc(sizeof *limit);
  if (limit == NULL) return NULL;
  *limit = 0;
  for (size_t i = 0; i < text.length && text.ptr[i] >= '0' && text.ptr[i] <= '9'; i++) *limit = *limit * 10 + (size_t)(text.ptr[i] - '0');
  return limit;
}

void envoy_dynamic_module_on_http_filter_config_destroy(const void *c) { free((void *)c); }

// Routes enable the filter with a configuration, in which there is nothing.
const void *envoy_dynamic_module_on_http_filter_per_route_config_new(span name, span text) { return "enabled"; }
void envoy_dynamic_module_on_http_filter_per_route_config_destroy(const void *c) {}

const void *envoy_dynamic_module_on_http_filter_new(const void *limit, void *envoy) {
  stream *s = calloc(1, sizeof *s);
  if (s == NULL) return NULL;
  s->envoy = envoy;
  s->limit = *(const size_t *)limit;
  s->last = &s->first;
  return s;
}

void envoy_dynamic_module_on_http_filter_destroy(const void *module) {
  stream *s = (stream *)module;
  if (s->link != NULL) {
    begin();
    finish(s->link, s->id);
    leave(s);
  }
  for (piece *p = s->first; p != NULL;) {
    piece *following = p->next;
    free(p);
    p = following;
  }
  free(s->ready.data);
  destroyed = s;
  free(s);
}

int envoy_dynamic_module_on_http_filter_request_headers(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  if (links != NULL) {
    do last_id++;
    while (last_id == 0 || *place(last_id) != NULL);
    s->id = last_id;
    s->link = links;
    s->next = table[s->id % lists];
    table[s->id % lists] = s;
    s->bodiless = end_stream;
    begin();
    if (send_headers(s, 2, request_header, end_stream)) return stop;
  }
  lost(s);
  return stop;
}

// The filter has the place of a buffer: Envoy's limit is that of the route.
int envoy_dynamic_module_on_http_filter_request_body(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  if (s->over || s->link == NULL) return stop_without_buffer;
  if (end_stream && !s->complete) {
    s->complete = true;
    send_body(s, 4, buffered_request, true, NULL);
  }
  return stop;
}

int envoy_dynamic_module_on_http_filter_request_trailers(void *envoy, const void *module) {
  stream *s = (stream *)module;
  if (!s->over && s->link != NULL && !s->complete) {
    s->complete = true;
    send_body(s, 4, buffered_request, true, NULL);
  }
  return stop;
}

int envoy_dynamic_module_on_http_filter_response_headers(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  if (!s->dispatched || s->over || s->link == NULL) return proceed;
  s->ended = s->headed = end_stream;
  s->waiting++;
  begin();
  attributes(s);
  if (!send_headers(s, 3, response_header, end_stream)) lost(s);
  return stop;
}

int envoy_dynamic_module_on_http_filter_response_body(void *envoy, const void *module, bool end_stream) {
  stream *s = (stream *)module;
  if (!s->dispatched || s->over || s->link == NULL) return proceed;
  if (!end_stream && s->due && unsent(s) == 0) {
    destroyed = NULL;
    release(s);
    if (destroyed == s || s->over || s->link == NULL) return stop_without_buffer;
  }
  if (!end_stream && (s->link->full || s->held >= (s->answered ? most_held : s->limit))) return stop_and_watermark;
  s->ended = end_stream;
  send_piece(s, end_stream);
  return stop_without_buffer;
}

int envoy_dynamic_module_on_http_filter_response_trailers(void *envoy, const void *module) {
  stream *s = (stream *)module;
  if (!s->dispatched || s->over || s->link == NULL) return proceed;
  if (unsent(s) > 0) send_piece(s, false);
  s->ended = s->trailers = true;
  s->waiting++;
  begin();
  start(7, 0);
  finish(s->link, s->id);
  return stop;
}

// ---- the network filter ----

static uint32_t workers; // set on the main thread before there is a worker

const void *envoy_dynamic_module_on_network_filter_config_new(void *envoy, span name, span text) {
  workers = callback(get_concurrency)();
  return "link";
}
void envoy_dynamic_module_on_network_filter_config_destroy(const void *c) {}

const void *envoy_dynamic_module_on_network_filter_new(const void *config, void *envoy) {
  link *l = calloc(1, sizeof *l);
  if (l != NULL) l->envoy = envoy;
  return l;
}

// The first message says which worker has the connection, and how many there are.
int envoy_dynamic_module_on_network_filter_new_connection(void *envoy, const void *module) {
  link *l = (link *)module, **at = &links;
  while (*at != NULL) at = &(*at)->next;
  *at = l;
  uint32_t hello[2] = {callback(network_filter_get_worker_index)(envoy), workers};
  begin();
  add(&out, hello, sizeof hello);
  finish(l, 0);
  return proceed;
}

// cut ends the streams of a link that has gone.
static void cut(link *l) {
  for (link **at = &links; *at != NULL; at = &(*at)->next)
    if (*at == l) {
      *at = l->next;
      break;
    }
  for (size_t i = 0; i < lists; i++)
    for (stream *s = table[i]; s != NULL;) {
      if (s->link != l) {
        s = s->next;
        continue;
      }
      lost(s); // other streams may go with it
      s = table[i];
    }
}

void envoy_dynamic_module_on_network_filter_destroy(const void *module) {
  link *l = (link *)module;
  cut(l);
  free(l->in.data);
  free(l);
}

void envoy_dynamic_module_on_network_filter_event(void *envoy, const void *module, int event) {
  if (event == remote_close || event == local_close) cut((link *)module);
}

// take takes one message off a link. The stream may have ended meanwhile.
static void take(link *l, uint32_t id, span message) {
  stream *s = *place(id);
  if (s == NULL || s->link != l) return;
  if (message.length == 0) {
    lost(s);
    return;
  }
  if (s->over || answer(s, message)) return;
  begin();
  finish(l, id);
  lost(s);
}

enum { most_message = 1 << 30 };

int envoy_dynamic_module_on_network_filter_read(void *envoy, const void *module, size_t length, bool end_stream) {
  link *l = (link *)module;
  size_t count = callback(network_filter_get_read_buffer_chunks_size)(envoy);
  size_t size = callback(network_filter_get_read_buffer_size)(envoy);
  span few[16], *all = count > 16 ? malloc(count * sizeof *all) : few;
  if (all == NULL) abort();
  if (count > 0 && callback(network_filter_get_read_buffer_chunks)(envoy, all))
    for (size_t i = 0; i < count; i++) add(&l->in, all[i].ptr, all[i].length);
  if (all != few) free(all);
  callback(network_filter_drain_read_buffer)(envoy, size);
  size_t at = 0;
  for (uint32_t head[2]; l->in.length - at >= sizeof head;) {
    memcpy(head, l->in.data + at, sizeof head);
    if (head[0] > most_message) {
      callback(network_filter_close)(envoy, 1);
      return stop;
    }
    if (l->in.length - at - sizeof head < head[0]) break;
    take(l, head[1], (span){l->in.data + at + sizeof head, head[0]});
    at += sizeof head + head[0];
  }
  if (at > 0) memmove(l->in.data, l->in.data + at, l->in.length - at);
  l->in.length -= at;
  if (l->in.length == 0 && l->in.capacity > most_held) { // after a long message
    free(l->in.data);
    l->in = (buffer){0};
  }
  return stop;
}

int envoy_dynamic_module_on_network_filter_write(void *envoy, const void *l, size_t length, bool end_stream) { return proceed; }

// While a link is full, the gateway does not read: responses are not read either.
void envoy_dynamic_module_on_network_filter_above_write_buffer_high_watermark(void *envoy, const void *module) { ((link *)module)->full = true; }

void envoy_dynamic_module_on_network_filter_below_write_buffer_low_watermark(void *envoy, const void *module) {
  link *l = (link *)module;
  l->full = false;
  for (size_t i = 0; i < lists; i++)
    for (stream *s = table[i]; s != NULL && !l->full; s = s->next)
      if (s->link == l && !s->over && unsent(s) > 0 && s->held < most_held / 2) send_piece(s, false);
}

// ---- hooks that Envoy requires of a module with HTTP filters, and that are not used ----

int envoy_dynamic_module_on_http_filter_local_reply(void *envoy, const void *s, uint32_t code, span details, bool reset) { return proceed; }
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
