// The requests and links of the module "attach", and the messages to the gateway.

// A piece of a response that the gateway has not answered: what the caller gets if the
// answer is that it stays as it is.
typedef struct piece {
  struct piece *next;
  size_t length;
  char data[];
} piece;

// The end of a connection to the gateway.
typedef struct link {
  struct link *next; // of the same worker
  void *envoy;
  buffer in; // of an answer that has not arrived completely
  bool full; // what is to be sent is above Envoy's limit
} link;

// One request in the filter "attach", from the headers until Envoy destroys it.
typedef struct stream {
  struct stream *next; // in its list of the table
  void *envoy;
  link *link;   // that has its messages; NULL: not begun, or the gateway has no part in it any more
  size_t limit; // of held before the response's headers are answered
  uint32_t id;
  bool over;       // Envoy answers by itself
  bool bodiless;   // the request ended with its headers
  bool complete;   // the gateway has the whole request
  bool resumed;    // the gateway has answered it
  bool dispatched; // with a plan: its response concerns the gateway
  bool answered;   // the gateway has answered the response's headers
  bool ended;      // the response's end was received
  bool trailers;   // they have no answer
  bool headed;     // the response consists of headers alone
  bool due;        // answered headers or bytes have not left
  size_t waiting;  // messages of the response without an answer
  size_t held;     // bytes of pieces
  piece *first, **last;
  buffer ready; // answered bytes that have not left
} stream;

// What a worker has. The table's size is a power of two.
enum { lists = 1024 };
static _Thread_local link *links;             // the first one takes new requests
static _Thread_local stream *table[lists];    // all streams with a link
static _Thread_local uint32_t last_id;
static _Thread_local const stream *destroyed; // the latest stream that was destroyed

// Pieces of one stream that the gateway has may have so many bytes after it has answered
// the headers. Until then they may have the configuration's, since a whole response is
// answered when it is complete.
enum { most_held = 1 << 20 };

static stream **place(uint32_t id) {
  stream **at = &table[id % lists];
  while (*at != NULL && (*at)->id != id) at = &(*at)->next;
  return at;
}

static void begin(void) {
  static const char head[8];
  out.length = 0;
  add(&out, head, sizeof head);
}

static void finish(const link *l, uint32_t id) {
  uint32_t head[2] = {(uint32_t)(out.length - sizeof head), id};
  memcpy(out.data, head, sizeof head);
  callback(network_filter_write)(l->envoy, (span){out.data, out.length}, false);
}

static size_t header_size(const header *h) { return field(h->key.length) + field(h->value.length); }

// send_headers sends a message of the kind n: HttpHeaders.
static bool send_headers(stream *s, int n, int type, bool end) {
  header headers[256];
  size_t count = callback(http_get_headers_size)(s->envoy, type), map = 0;
  if (count > sizeof headers / sizeof headers[0] || !callback(http_get_headers)(s->envoy, type, headers)) return false;
  for (size_t i = 0; i < count; i++) map += field(header_size(&headers[i]));
  start(n, field(map) + 2);
  start(1, map);
  for (size_t i = 0; i < count; i++) {
    start(1, header_size(&headers[i]));
    text(1, headers[i].key);
    text(3, headers[i].value);
  }
  number(tag(3, varint));
  number(end);
  finish(s->link, s->id);
  return true;
}

// attributes adds those of a response: a map of one entry, whose value is a Struct.
static void attributes(const stream *s) {
  static const span attempts = {"upstream.request_attempt_count", 30}, why = {"response.code_details", 21};
  uint64_t n = 0;
  span details = {0};
  callback(http_filter_get_attribute_int)(s->envoy, upstream_attempts, &n);
  callback(http_filter_get_attribute_string)(s->envoy, response_code_details, &details);
  double tries = (double)n;
  size_t first = field(attempts.length) + field(1 + sizeof tries);
  size_t second = field(why.length) + field(field(details.length));
  size_t all = field(first) + field(second);
  start(9, field(all));
  start(2, all);
  start(1, first);
  text(1, attempts);
  start(2, 1 + sizeof tries);
  number(tag(2, fixed64));
  add(&out, &tries, sizeof tries);
  start(1, second);
  text(1, why);
  start(2, field(details.length));
  text(3, details);
}

static size_t chunks(void *envoy, int body, span *to, size_t most) {
  size_t n = callback(http_get_body_chunks_size)(envoy, body);
  return n == 0 || n > most || !callback(http_get_body_chunks)(envoy, body, to) ? 0 : n;
}

// send_body sends a message of the kind n, HttpBody, with what is buffered of the body and
// what has just been received. It returns the bytes in *keep, if keep is not NULL.
static void send_body(stream *s, int n, int buffered, bool end, piece **keep) {
  size_t length = callback(http_get_body_size)(s->envoy, buffered) + callback(http_get_body_size)(s->envoy, buffered - 1);
  begin();
  start(n, field(length) + 2);
  number(tag(2, varint));
  number(end);
  start(1, length);
  size_t at = out.length;
  for (int body = buffered; body >= buffered - 1; body--) {
    size_t count = callback(http_get_body_chunks_size)(s->envoy, body);
    span few[16], *all = count > 16 ? malloc(count * sizeof *all) : few;
    if (all == NULL) abort();
    count = chunks(s->envoy, body, all, count);
    for (size_t i = 0; i < count; i++) add(&out, all[i].ptr, all[i].length);
    if (all != few) free(all);
  }
  if (keep != NULL) {
    *keep = malloc(sizeof **keep + length);
    if (*keep == NULL) abort();
    (*keep)->next = NULL;
    (*keep)->length = length;
    if (length > 0) memcpy((*keep)->data, out.data + at, length);
  }
  finish(s->link, s->id);
}
