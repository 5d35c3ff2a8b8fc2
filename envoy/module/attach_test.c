// Drives the module "attach" with random events, as Envoy 1.40 would call it and as the gateway
// could answer, to be run with the address sanitizer. Each request's caller must get what
// the gateway has answered, in order and to the end, whatever arrives when.
//
// The module's source is included, so its callbacks are functions of this file.

#include "attach.c"
#include <stdio.h>

#define check(condition)                                                                          \
  do                                                                                              \
    if (!(condition)) fprintf(stderr, "seed %u, line %d: %s\n", seed, __LINE__, #condition), abort(); \
  while (0)

static unsigned seed, state;
static unsigned below(unsigned n) { // a random number
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

// Envoy's buffers of a body: what is buffered, which may be nothing, and what is being received.
typedef struct {
  buffer kept, now;
  bool exists, receiving;
} body;

// A request in Envoy.
enum { most_streams = 12, most_kinds = 4096 };
typedef struct {
  bool live, over;
  const void *module;
  body bodies[2]; // of the request and the response
  bool request_ended, resumed, headed, observed_end, trailers, sent_headers, stopped[2], done[2];
  buffer caller;   // what the caller has got
  buffer expected; // what it must get
  bool complete;
  // The gateway's side: the kinds that it has to answer, with the pieces.
  uint32_t id;
  int kinds[most_kinds];
  buffer pieces[most_kinds];
  size_t first, last;
  bool gone;
} request;

static request requests[most_streams];
static const void *module_link;
static bool link_open;
static buffer incoming; // of the link's read buffer

static request *of(void *filter) { return filter; }
static buffer *data_of(void *f, int type) { return type % 2 == 1 ? &of(f)->bodies[type / 2].kept : &of(f)->bodies[type / 2].now; }

bool callback(http_filter_get_attribute_int)(void *f, int id, uint64_t *v) { return *v = 1, id == upstream_attempts; }
bool callback(http_filter_get_attribute_string)(void *f, int id, span *v) { return *v = (span){"via_upstream", 12}, true; }
size_t callback(http_get_headers_size)(void *f, int type) { return 3; }
bool callback(http_get_headers)(void *f, int type, header *h) {
  h[0] = (header){{":path", 5}, {"/v1/chat/completions", 20}};
  h[1] = (header){{"content-length", 14}, {"5", 1}};
  h[2] = (header){{"x", 1}, {"", 0}};
  return true;
}
bool callback(http_get_header)(void *f, int type, span key, span *v, size_t i, size_t *n) { return *v = (span){"5", 1}, true; }
bool callback(http_set_header)(void *f, int type, span key, span value) {
  check(memchr(value.ptr != NULL ? value.ptr : "", '\n', value.length) == NULL);
  volatile char sum = 0; // reads all bytes
  for (size_t i = 0; i < key.length; i++) sum += key.ptr[i];
  for (size_t i = 0; i < value.length; i++) sum += value.ptr[i];
  return true;
}
size_t callback(http_get_body_chunks_size)(void *f, int type) { return (data_of(f, type)->length + 99) / 100; }
bool callback(http_get_body_chunks)(void *f, int type, span *to) {
  buffer *b = data_of(f, type);
  for (size_t at = 0; at < b->length; at += 100) *to++ = (span){b->data + at, b->length - at < 100 ? b->length - at : 100};
  return true;
}
size_t callback(http_get_body_size)(void *f, int type) { return data_of(f, type)->length; }
bool callback(http_append_body)(void *f, int type, span d) {
  check(type % 2 == 1);
  of(f)->bodies[type / 2].exists = true;
  add(data_of(f, type), d.ptr, d.length);
  return true;
}
bool callback(http_drain_body)(void *f, int type, size_t n) {
  buffer *b = data_of(f, type);
  if (n > b->length) n = b->length;
  if (n > 0) memmove(b->data, b->data + n, b->length - n);
  b->length -= n;
  return true;
}
void callback(http_clear_route_cache)(void *f) {}
void callback(http_set_dynamic_metadata_struct)(void *f, span space, span data) {}

static void destroy(request *r) {
  if (!r->live) return;
  r->live = false;
  envoy_dynamic_module_on_http_filter_destroy(r->module);
}

void callback(http_send_response)(void *f, uint32_t status, header *h, size_t n, span b, span details) {
  request *r = of(f);
  check(r->live && !r->over && details.ptr != NULL + 1);
  r->over = true;
  if (below(2)) destroy(r); // Envoy destroys it now or a little later
}

void callback(http_filter_continue_decoding)(void *f) {
  request *r = of(f);
  check(r->live && !r->done[0] && r->request_ended);
  r->resumed = r->done[0] = true;
}

void callback(http_filter_continue_encoding)(void *f) {
  request *r = of(f);
  check(r->live && r->headed && !r->over);
  check(!r->done[1]); // otherwise it would have no effect
  r->sent_headers = true;
  body *b = &r->bodies[1];
  bool bytes_left = b->exists;
  add(&r->caller, b->kept.data, b->kept.length);
  b->kept.length = 0;
  b->exists = false;
  if (r->observed_end) {
    check(bytes_left || r->trailers || below(1) == 0);
    r->complete = true;
    if (below(2)) destroy(r);
  }
  r->done[1] = true;
  if (r->live && below(50) == 0) destroy(r); // the caller's connection broke
}

static void gateway_receives(uint32_t id, const char *p, size_t n);

void callback(network_filter_write)(void *f, span d, bool end) {
  uint32_t head[2];
  check(link_open && d.length >= sizeof head);
  memcpy(head, d.ptr, sizeof head);
  check(head[0] == d.length - sizeof head);
  gateway_receives(head[1], d.ptr + sizeof head, head[0]);
}
void callback(network_filter_close)(void *f, int type) {}
uint32_t callback(network_filter_get_worker_index)(void *f) { return 0; }
uint32_t callback(get_concurrency)(void) { return 1; }
size_t callback(network_filter_get_read_buffer_size)(void *f) { return incoming.length; }
size_t callback(network_filter_get_read_buffer_chunks_size)(void *f) { return (incoming.length + 999) / 1000; }
bool callback(network_filter_get_read_buffer_chunks)(void *f, span *to) {
  for (size_t at = 0; at < incoming.length; at += 1000) *to++ = (span){incoming.data + at, incoming.length - at < 1000 ? incoming.length - at : 1000};
  return true;
}
bool callback(network_filter_drain_read_buffer)(void *f, size_t n) {
  check(n == incoming.length);
  incoming.length = 0;
  return true;
}

// ---- the gateway ----

static request *numbered(uint32_t id) {
  for (request *r = requests; r < requests + most_streams; r++)
    if (r->live && r->id == id) return r;
  return NULL;
}

static request *beginning; // the request whose headers are being sent

static void gateway_receives(uint32_t id, const char *p, size_t n) {
  if (id == 0) return;
  if (beginning != NULL) beginning->id = id, beginning = NULL;
  request *r = numbered(id);
  if (r == NULL) {
    check(n == 0); // the end of a request
    return;
  }
  if (n == 0) {
    r->gone = true;
    return;
  }
  span rest = {p, n}, value, what = {0};
  uint64_t number;
  int kind = 0;
  for (int f; (f = next(&rest, &value, &number)) != 0;)
    if (f < 9) kind = f, what = value;
  check(kind >= 2 && kind <= 7 && r->last < most_kinds);
  if (kind == 5) {
    span piece = inside(what, 1);
    r->pieces[r->last].length = 0;
    add(&r->pieces[r->last], piece.ptr, piece.length);
  }
  r->kinds[r->last++] = kind;
}

static void deliver(uint32_t id, const buffer *m) {
  uint32_t head[2] = {(uint32_t)m->length, id};
  add(&incoming, head, sizeof head);
  add(&incoming, m->data, m->length);
  while (incoming.length > 0) { // it arrives in two parts at times
    buffer rest = {0};
    size_t part = below(3) == 0 ? below((unsigned)incoming.length) : incoming.length;
    add(&rest, incoming.data + part, incoming.length - part);
    incoming.length = part;
    envoy_dynamic_module_on_network_filter_read(NULL, module_link, part, false);
    incoming.length = 0;
    add(&incoming, rest.data, rest.length);
    free(rest.data);
  }
}

static void put_number(buffer *b, uint64_t v) {
  char c;
  for (; v >= 0x80; v >>= 7) c = (char)(v | 0x80), add(b, &c, 1);
  c = (char)v;
  add(b, &c, 1);
}

static void put(buffer *b, int n, const buffer *inner) {
  put_number(b, (uint64_t)(n << 3 | 2));
  put_number(b, inner->length);
  add(b, inner->data, inner->length);
}

static void wrap(buffer *b, int n) {
  buffer outer = {0};
  put(&outer, n, b);
  free(b->data);
  *b = outer;
}

static void random_bytes(buffer *b, size_t n) {
  for (; n > 0; n--) {
    char c = (char)below(256);
    add(b, &c, 1);
  }
}

// answers answers the oldest message of a request, or sends what is no answer.
static void answers(request *r) {
  buffer m = {0};
  if (below(400) == 0) { // anything
    random_bytes(&m, below(40));
    r->expected.length = 0;
    r->gone = true; // what follows is not predicted
    deliver(r->id, &m);
  } else if (below(300) == 0) { // an immediate response
    buffer status = {0};
    put_number(&status, 1 << 3);
    put_number(&status, 400);
    put(&m, 1, &status);
    wrap(&m, 7);
    r->gone = true;
    deliver(r->id, &m);
    free(status.data);
  } else if (r->first < r->last) {
    static const int to[] = {0, 0, 1, 2, 3, 4, 5, 6};
    int kind = r->kinds[r->first];
    if (kind == 5) {
      buffer *p = &r->pieces[r->first];
      if (below(3) == 0) { // replaced
        buffer text = {0};
        random_bytes(&text, below(3) == 0 ? 0 : below(3000));
        add(&r->expected, text.data, text.length);
        if (text.length == 0) put_number(&m, 2 << 3), put_number(&m, 1); // cleared
        else put(&m, 1, &text);
        wrap(&m, 3);
        wrap(&m, 1);
        free(text.data);
      } else add(&r->expected, p->data, p->length);
    }
    if (kind == 3 && below(2)) { // with a header, which may be none
      buffer name = {0}, value = {0}, h = {0}, option = {0};
      add(&name, "x-a", 3);
      add(&value, below(50) == 0 ? (r->gone = true, "b\nc") : "b c", 3);
      put(&h, 1, &name);
      put(&h, 3, &value);
      put(&option, 1, &h);
      put(&m, 1, &option);
      wrap(&m, 2);
      wrap(&m, 1);
      free(name.data), free(value.data), free(h.data), free(option.data);
    }
    if (kind == 4) put_number(&m, 5 << 3), put_number(&m, 1), wrap(&m, 1);
    wrap(&m, to[kind]);
    if (kind == 4) { // with a plan
      buffer plan = {0}, text = {0};
      add(&text, "plan", 4);
      put(&plan, 1, &text);
      wrap(&plan, 1);
      put(&m, 8, &plan);
      free(plan.data);
      free(text.data);
    }
    r->first++;
    deliver(r->id, &m);
  }
  free(m.data);
}

// ---- Envoy ----

static void open_link(void) {
  envoy_dynamic_module_on_network_filter_config_new(NULL, (span){0}, (span){0});
  module_link = envoy_dynamic_module_on_network_filter_new(NULL, NULL);
  link_open = true;
  envoy_dynamic_module_on_network_filter_new_connection(NULL, module_link);
}

static void close_link(void) {
  link_open = false;
  envoy_dynamic_module_on_network_filter_event(NULL, module_link, remote_close);
  envoy_dynamic_module_on_network_filter_destroy(module_link);
  incoming.length = 0;
}

static const void *config;

static void begin_request(request *r) {
  buffer caller = r->caller, expected = r->expected;
  for (int i = 0; i < 2; i++) free(r->bodies[i].kept.data), free(r->bodies[i].now.data);
  for (size_t i = 0; i < r->last; i++) free(r->pieces[i].data);
  memset(r, 0, sizeof *r);
  caller.length = expected.length = 0;
  r->caller = caller;
  r->expected = expected;
  r->live = true;
  r->module = envoy_dynamic_module_on_http_filter_new(config, r);
  beginning = r;
  check(envoy_dynamic_module_on_http_filter_request_headers(r, r->module, false) == stop);
  beginning = NULL;
}

// receive has the module see a piece of a body.
static void receive(request *r, int which, bool end) {
  body *b = &r->bodies[which];
  b->now.length = 0;
  random_bytes(&b->now, below(4) == 0 ? 0 : below(2000));
  if (end && b->exists) {
    add(&b->kept, b->now.data, b->now.length);
    b->now.length = 0;
  }
  int status;
  if (which == 0) status = envoy_dynamic_module_on_http_filter_request_body(r, r->module, end);
  else {
    r->observed_end = end;
    status = envoy_dynamic_module_on_http_filter_response_body(r, r->module, end);
    if (!r->live) return;
    r->done[1] = status == proceed;
  }
  if (!r->live || r->over) return;
  check(status != proceed);
  if (status == stop || status == stop_and_watermark) {
    b->exists = true;
    add(&b->kept, b->now.data, b->now.length);
  } else check(b->now.length == 0);
  b->now.length = 0;
}

static void step(request *r) {
  if (!r->live) {
    if (link_open || below(10) == 0) begin_request(r);
  } else if (r->over) destroy(r);
  else if (r->complete) {
    if (!r->gone) check(r->caller.length == r->expected.length && (r->caller.length == 0 || memcmp(r->caller.data, r->expected.data, r->caller.length) == 0));
    destroy(r);
  } else if (below(500) == 0) destroy(r); // the caller has left
  else if (below(2)) answers(r);
  else if (!r->request_ended) {
    r->request_ended = below(3) == 0;
    receive(r, 0, r->request_ended);
  } else if (!r->resumed) answers(r);
  else if (!r->headed) {
    r->headed = true;
    r->observed_end = below(20) == 0;
    r->complete = false;
    int status = envoy_dynamic_module_on_http_filter_response_headers(r, r->module, r->observed_end);
    if (!r->live) return;
    if (r->gone && status == proceed) { // dispatched without a plan
      destroy(r);
      return;
    }
    check(status == stop);
    r->done[1] = false;
  } else if (!r->observed_end) {
    if (below(20) == 0) {
      r->observed_end = r->trailers = true;
      check(envoy_dynamic_module_on_http_filter_response_trailers(r, r->module) == stop);
      if (r->live) r->done[1] = false;
    } else receive(r, 1, below(20) == 0);
  }
}

int main(int argc, char **argv) {
  config = envoy_dynamic_module_on_http_filter_config_new(NULL, (span){0}, (span){"20000", 5});
  unsigned from = (unsigned)atoi(argv[1]), to = (unsigned)atoi(argv[2]);
  size_t completed = 0;
  for (seed = from; seed < to; seed++) {
    state = seed;
    open_link();
    for (int i = 0; i < 4000; i++) {
      if (below(1500) == 0) close_link(), open_link();
      if (below(50) == 0) envoy_dynamic_module_on_network_filter_above_write_buffer_high_watermark(NULL, module_link);
      if (below(20) == 0) envoy_dynamic_module_on_network_filter_below_write_buffer_low_watermark(NULL, module_link);
      request *r = &requests[below(most_streams)];
      bool was = r->complete;
      step(r);
      completed += r->complete && !was;
    }
    // What is under way ends without further events from Envoy, if the gateway answers all.
    envoy_dynamic_module_on_network_filter_below_write_buffer_low_watermark(NULL, module_link);
    for (request *r = requests; r < requests + most_streams; r++) {
      while (r->live && !r->over && !r->gone && r->first < r->last) answers(r);
      if (r->live && !r->over && !r->gone && r->headed)
        check(r->sent_headers && r->caller.length == r->expected.length);
      destroy(r);
    }
    close_link();
    for (int i = 0; i < lists; i++) check(table[i] == NULL);
    check(links == NULL);
  }
  for (request *r = requests; r < requests + most_streams; r++) {
    for (int i = 0; i < 2; i++) free(r->bodies[i].kept.data), free(r->bodies[i].now.data);
    for (size_t i = 0; i < r->last; i++) free(r->pieces[i].data);
    free(r->caller.data);
    free(r->expected.data);
  }
  free(incoming.data);
  free(out.data);
  envoy_dynamic_module_on_http_filter_config_destroy(config);
  printf("%zu requests were answered to the end\n", completed);
  return completed == 0;
}
