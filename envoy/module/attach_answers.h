// How the module "attach" carries out the answers of the gateway.

// named reads a HeaderValueOption.
static header named(span option) {
  span h = inside(option, 1);
  return (header){inside(h, 1), inside(h, 3)};
}

// valid reports whether a header can be written. Envoy would write a line break, and what follows
// it would be a header of its own.
static bool valid(header h) {
  if (h.key.length == 0) return false;
  for (size_t i = 0; i < h.key.length; i++)
    if (strchr("\r\n", h.key.ptr[i]) != NULL) return false; // or a zero
  for (size_t i = 0; i < h.value.length; i++)
    if (strchr("\r\n", h.value.ptr[i]) != NULL) return false;
  return true;
}

// edit applies a HeaderMutation, as ext_proc does: what is removed first. It applies nothing, and
// returns false, if a header is not valid.
static bool edit(void *envoy, int type, span mutation) {
  span value, rest = mutation;
  uint64_t n;
  for (int f; (f = next(&rest, &value, &n)) != 0;)
    if (f == 1 && !valid(named(value))) return false;
  rest = mutation;
  for (int f; (f = next(&rest, &value, &n)) != 0;)
    if (f == 2 && value.length > 0) callback(http_set_header)(envoy, type, value, (span){0});
  for (int f; (f = next(&mutation, &value, &n)) != 0;) {
    if (f != 1) continue;
    header h = named(value);
    if (h.value.ptr == NULL) h.value.ptr = "";
    callback(http_set_header)(envoy, type, h.key, h.value);
  }
  return true;
}

// respond ends the request: with a response, or by a reset if the response has begun. The
// stream may be gone afterwards.
static void respond(stream *s, uint32_t status, header *headers, size_t count, span body, span details) {
  s->over = true;
  callback(http_send_response)(s->envoy, status, headers, count, body, details);
}

// leave takes a stream from its link.
static void leave(stream *s) {
  stream **at = place(s->id);
  if (*at == s) *at = s->next;
  s->link = NULL;
}

// lost ends a stream that the gateway has left, as ext_proc does if its stream fails.
static void lost(stream *s) {
  static const span details = {"gateway_lost", 12};
  leave(s);
  if (!s->over && !(s->ended && s->waiting == 0)) respond(s, 503, NULL, 0, (span){"", 0}, details);
}

// release lets what is answered leave: headers, and bytes behind them. Envoy must not have
// the stream's end before everything is answered, as it ends the response with what leaves.
// The stream may be gone afterwards.
static void release(stream *s) {
  s->due = false;
  if (s->ready.length > 0 || (s->ended && !s->headed))
    callback(http_append_body)(s->envoy, buffered_response, (span){s->ready.data, s->ready.length});
  s->ready.length = 0;
  callback(http_filter_continue_encoding)(s->envoy);
}

// immediate carries out an ImmediateResponse. What was answered before it leaves before it: the
// error event of a stream that a guardrail has blocked. If Envoy has the whole response, that
// completes it. It does nothing, and returns false, if a header is not valid. The stream may be gone
// afterwards.
static bool immediate(stream *s, span answer) {
  header headers[64];
  size_t count = 0;
  span rest = inside(answer, 2), value;
  uint64_t n;
  for (int f; (f = next(&rest, &value, &n)) != 0;) {
    if (f != 1) continue;
    header h = named(value);
    if (count == sizeof headers / sizeof headers[0] || !valid(h)) return false;
    headers[count++] = h;
  }
  if (s->due) {
    bool ended = s->ended;
    callback(http_drain_body)(s->envoy, buffered_response, callback(http_get_body_size)(s->envoy, buffered_response));
    destroyed = NULL;
    release(s);
    if (destroyed == s) return true;
    if (ended) {
      s->over = true;
      return true;
    }
  }
  respond(s, (uint32_t)inside_number(inside(answer, 1), 1), headers, count, inside(answer, 3), inside(answer, 5));
  return true;
}

// planned gives Envoy's cluster specifier the plan: the metadata of one namespace.
static void planned(void *envoy, span metadata) {
  span entry = inside(metadata, 1);
  callback(http_set_dynamic_metadata_struct)(envoy, inside(entry, 1), inside(inside(entry, 2), 5));
}

// dispatch lets the request go on as the gateway has changed it. It does nothing, and returns
// false, if a header is not valid. The stream may be gone afterwards.
static bool dispatch(stream *s, span common, span metadata) {
  static const span content_length = {"content-length", 14};
  if (!edit(s->envoy, request_header, inside(common, 2))) return false;
  s->resumed = true;
  s->dispatched = metadata.length > 0;
  span body = inside(common, 3), length;
  if (body.length > 0 && !s->bodiless) {
    span data = inside(body, 1);
    callback(http_drain_body)(s->envoy, buffered_request, callback(http_get_body_size)(s->envoy, buffered_request));
    callback(http_append_body)(s->envoy, buffered_request, data);
    if (callback(http_get_header)(s->envoy, request_header, content_length, &length, 0, NULL)) {
      char digits[20], *at = digits + sizeof digits;
      size_t n = data.length;
      do *--at = (char)('0' + n % 10);
      while ((n /= 10) > 0);
      callback(http_set_header)(s->envoy, request_header, content_length, (span){at, (size_t)(digits + sizeof digits - at)});
    }
  }
  if (metadata.length > 0) planned(s->envoy, metadata);
  if (inside_number(common, 5) != 0) callback(http_clear_route_cache)(s->envoy);
  callback(http_filter_continue_decoding)(s->envoy);
  return true;
}

// send_piece sends what is buffered and received of a response's body, and keeps it until the
// answer.
static void send_piece(stream *s, bool end) {
  piece *p;
  send_body(s, 5, buffered_response, end, &p);
  *s->last = p;
  s->last = &p->next;
  s->held += p->length;
  s->waiting++;
  callback(http_drain_body)(s->envoy, received_response, callback(http_get_body_size)(s->envoy, received_response));
  callback(http_drain_body)(s->envoy, buffered_response, callback(http_get_body_size)(s->envoy, buffered_response));
}

// unsent returns the bytes of a response that Envoy holds back because the gateway has too much.
static size_t unsent(const stream *s) { return callback(http_get_body_size)(s->envoy, buffered_response); }

// answer_piece takes the answer to the oldest piece.
static bool answer_piece(stream *s, span common) {
  piece *p = s->first;
  if (p == NULL) return false;
  span body = inside(common, 3);
  if (body.length == 0) add(&s->ready, p->data, p->length);
  else {
    span data = inside(body, 1);
    add(&s->ready, data.ptr, data.length);
  }
  s->first = p->next;
  if (s->first == NULL) s->last = &s->first;
  s->held -= p->length;
  free(p);
  return true;
}

// answer carries out a ProcessingResponse. It returns false if that cannot be an answer. The
// stream may be gone afterwards.
static bool answer(stream *s, span message) {
  span value, what = {0}, metadata = {0};
  uint64_t n;
  int kind = 0;
  for (int f; (f = next(&message, &value, &n)) != 0;) {
    if (f == 8) metadata = inside(value, 1).ptr != NULL ? value : metadata;
    else if (f <= 7) kind = f, what = value;
  }
  span common = kind <= 4 ? inside(what, 1) : (span){0};
  switch (kind) {
  case 1:
    return !s->bodiless || s->resumed || dispatch(s, common, metadata);
  case 3:
    return s->complete && !s->resumed && dispatch(s, common, metadata);
  case 7: return immediate(s, what);
  case 2:
    if (s->answered || s->waiting == 0) return false;
    if (!edit(s->envoy, response_header, inside(common, 2))) return false;
    s->answered = true;
    break;
  case 4:
    if (!s->answered || !answer_piece(s, common)) return false;
    break;
  case 6:
    if (!s->answered || !s->trailers || s->first != NULL) return false;
    s->trailers = false;
    break;
  default: return false;
  }
  s->waiting--;
  s->due = true;
  if (unsent(s) > 0 && s->held < most_held / 2 && !s->link->full) send_piece(s, false);
  if (s->waiting == 0 && unsent(s) == 0) release(s);
  return true;
}
