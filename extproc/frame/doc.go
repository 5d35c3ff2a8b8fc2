// Package frame reads and writes ext_proc messages without building the
// generated message trees: it walks the protobuf bytes that Envoy sent and
// writes the answer's bytes directly.
//
// Why not the generated types: a chat request makes five such messages each
// way and a stream one per chunk, and decoding, allocating and encoding the
// trees was half of what the processor cost (63 µs a request against 33 µs,
// measured on one core with everything else equal). The field numbers are those
// of envoy/service/ext_proc/v3/external_processor.proto; the tests hold every
// function here against the generated types.
//
// Nothing here keeps state; values alias the buffer that they were read from
// and are valid for as long as it is.
package frame
