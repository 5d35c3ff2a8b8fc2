// Buffers of the module "attach", and the encoding of protobuf.

// A buffer that grows. It is freed by its owner.
typedef struct {
  char *data;
  size_t length, capacity;
} buffer;

// Without memory Envoy itself aborts; so does the module.
static void room(buffer *b, size_t n) {
  if (b->capacity - b->length >= n) return;
  size_t capacity = b->capacity * 2 > b->length + n ? b->capacity * 2 : b->length + n;
  char *data = realloc(b->data, capacity);
  if (data == NULL) abort();
  b->data = data;
  b->capacity = capacity;
}

static void add(buffer *b, const void *data, size_t n) {
  if (n == 0) return;
  room(b, n);
  memcpy(b->data + b->length, data, n);
  b->length += n;
}

static _Thread_local buffer out; // the message that is being made

// Tags of fields: the number times eight, and the type of the encoding.
enum { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
#define tag(number, type) ((number) << 3 | (type))

static size_t size_of(uint64_t v) {
  size_t n = 1;
  for (; v >= 0x80; v >>= 7) n++;
  return n;
}

static size_t field(size_t n) { return 1 + size_of(n) + n; } // the size of a field of n bytes

static void number(uint64_t v) {
  room(&out, 10);
  for (; v >= 0x80; v >>= 7) out.data[out.length++] = (char)(v | 0x80);
  out.data[out.length++] = (char)v;
}

static void start(int n, size_t length) {
  number(tag(n, bytes));
  number(length);
}

static void text(int n, span s) {
  start(n, s.length);
  add(&out, s.ptr, s.length);
}

// next takes a field off *s. A field of bytes is in *value, a number in *n. It returns the
// field's number, and 0 at the end or at what is no field.
static uint64_t read_number(span *s) {
  uint64_t v = 0;
  for (int shift = 0; s->length > 0 && shift < 64; shift += 7) {
    unsigned char c = (unsigned char)*s->ptr++;
    s->length--;
    v |= (uint64_t)(c & 0x7f) << shift;
    if (c < 0x80) return v;
  }
  s->length = 0;
  return 0;
}

static int next(span *s, span *value, uint64_t *n) {
  if (s->length == 0) return 0;
  uint64_t key = read_number(s);
  *value = (span){0};
  *n = 0;
  size_t length = 0;
  switch (key & 7) {
  case varint: *n = read_number(s); return (int)(key >> 3);
  case fixed64: length = 8; break;
  case fixed32: length = 4; break;
  case bytes: {
    uint64_t l = read_number(s);
    if (l > s->length) return s->length = 0, 0;
    length = (size_t)l;
    break;
  }
  default: s->length = 0; return 0;
  }
  if (length > s->length) return s->length = 0, 0;
  *value = (span){s->ptr, length};
  s->ptr += length;
  s->length -= length;
  return (int)(key >> 3);
}

// inside returns the field of bytes with the number n in s: the last one, as protobuf does.
static span inside(span s, int n) {
  span value, found = {0};
  uint64_t number;
  for (int f; (f = next(&s, &value, &number)) != 0;)
    if (f == n) found = value;
  return found;
}

static uint64_t inside_number(span s, int n) {
  span value;
  uint64_t number, found = 0;
  for (int f; (f = next(&s, &value, &number)) != 0;)
    if (f == n) found = number;
  return found;
}
