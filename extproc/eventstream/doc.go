// Package eventstream splits streams of AWS's binary events (application/vnd.amazon.eventstream) into
// events, as package splice splits server-sent events. It guarantees
//   - that an event is the same however the stream is cut into pieces;
//   - that both checksums of a frame are right before anything of it is used;
//   - that no more than one frame is kept, and never more bytes than have arrived: a frame that claims to be longer than MaxFrame
//     is rejected when its first twelve bytes are there;
//   - that time and memory are linear in the stream.
//
// The format is described at https://docs.aws.amazon.com/transcribe/latest/dg/streaming-http2.html. The decoder of the
// AWS SDK reads from a blocking reader and allocates for each header, so the tests compare with it, and streams
// are read here.
package eventstream
