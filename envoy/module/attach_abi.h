// What the module "attach" uses of Envoy's application binary interface for dynamic modules, version 0.2.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Bytes that Envoy or the module owns, and a header. Both sides use the same layout.
typedef struct {
  const char *ptr;
  size_t length;
} span;

typedef struct {
  span key, value;
} header;

// Values of Envoy's enumerations.
enum { proceed = 0, stop = 1, stop_and_watermark = 2, stop_without_buffer = 3 }; // statuses of hooks
enum { request_header = 0, response_header = 2 };
enum { received_request = 0, buffered_request = 1, received_response = 2, buffered_response = 3 }; // bodies
enum { response_code_details = 16, upstream_attempts = 53 };                                       // attributes
enum { remote_close = 0, local_close = 1 };                                                        // events of a connection

#define callback(name) envoy_dynamic_module_callback_##name
extern bool callback(http_filter_get_attribute_int)(void *filter, int id, uint64_t *value);
extern bool callback(http_filter_get_attribute_string)(void *filter, int id, span *value);
extern size_t callback(http_get_headers_size)(void *filter, int type);
extern bool callback(http_get_headers)(void *filter, int type, header *headers);
extern bool callback(http_get_header)(void *filter, int type, span key, span *value, size_t index, size_t *count);
extern bool callback(http_set_header)(void *filter, int type, span key, span value);
extern size_t callback(http_get_body_chunks_size)(void *filter, int body);
extern bool callback(http_get_body_chunks)(void *filter, int body, span *chunks);
extern size_t callback(http_get_body_size)(void *filter, int body);
extern bool callback(http_append_body)(void *filter, int body, span data);
extern bool callback(http_drain_body)(void *filter, int body, size_t length);
extern void callback(http_clear_route_cache)(void *filter);
extern void callback(http_set_dynamic_metadata_struct)(void *filter, span space, span data);
extern void callback(http_send_response)(void *filter, uint32_t status, header *headers, size_t count, span body, span details);
extern void callback(http_filter_continue_decoding)(void *filter);
extern void callback(http_filter_continue_encoding)(void *filter);
extern void callback(network_filter_write)(void *filter, span data, bool end_stream);
extern void callback(network_filter_close)(void *filter, int type);
extern uint32_t callback(network_filter_get_worker_index)(void *filter);
extern uint32_t callback(get_concurrency)(void);
extern size_t callback(network_filter_get_read_buffer_size)(void *filter);
extern size_t callback(network_filter_get_read_buffer_chunks_size)(void *filter);
extern bool callback(network_filter_get_read_buffer_chunks)(void *filter, span *chunks);
extern bool callback(network_filter_drain_read_buffer)(void *filter, size_t length);
