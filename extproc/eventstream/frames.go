package eventstream

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Frames turns the server-sent events of Anthropic's messages into the chunks that InvokeModelWithResponseStream of Bedrock
// has them in. It is the other direction of a Splitter with Chunks. The zero value is ready.
type Frames struct {
	// Events says that the events are those of ConverseStream: the type of each is that of its frame, and one that ends with
	// Exception is an exception. It is the other direction of a Splitter without Chunks.
	Events bool

	split splice.Splitter
	out   []byte
	data  []byte // scratch
}

// Add takes whole events, and returns what goes out in their place. It is valid until the next call. Events without data
// have no frame.
func (f *Frames) Add(events []byte) []byte {
	f.out = f.out[:0]
	f.split.Push(events)
	var e splice.Event
	for f.split.Next(&e) {
		switch {
		case !f.Events:
			f.event(e.Data)
		case len(e.Data) == 0 || len(e.Type) == 0:
		case IsFailure(e.Type):
			f.frame("exception", string(e.Type), e.Data)
		default:
			f.frame("event", string(e.Type), e.Data)
		}
	}
	return f.out
}

// End is Add for the events that end the stream.
func (f *Frames) End(events []byte) []byte { return f.Add(events) }

// event appends the frame of an event. An error is an exception, which AWS's libraries raise.
func (f *Frames) event(data []byte) {
	if len(data) == 0 {
		return
	}
	failure := splice.Lookup(data, "error")
	if string(splice.Lookup(data, "type")) != `"error"` || failure == nil {
		f.data = append(f.data[:0], `{"bytes":"`...)
		f.data = append(base64.StdEncoding.AppendEncode(f.data, data), `"}`...)
		f.frame("event", "chunk", f.data)
		return
	}
	message := splice.Lookup(failure, "message")
	if message == nil {
		message = []byte(`"The stream failed."`)
	}
	f.data = append(append(append(f.data[:0], `{"message":`...), message...), '}')
	f.frame("exception", exceptionOf(string(splice.Lookup(failure, "type"))), f.data)
}

// exceptionOf names the exception of Bedrock for a type of Anthropic's errors, which is JSON.
func exceptionOf(kind string) string {
	switch kind {
	case `"rate_limit_error"`:
		return "throttlingException"
	case `"invalid_request_error"`, `"request_too_large"`:
		return "validationException"
	case `"overloaded_error"`:
		return "serviceUnavailableException"
	case `"timeout_error"`:
		return "modelTimeoutException"
	}
	return "internalServerException"
}

// frame appends a frame with a payload of JSON.
func (f *Frames) frame(kind, name string, payload []byte) {
	begin := len(f.out)
	f.out = append(f.out, make([]byte, 12)...) // the lengths and their checksum, which follow
	for _, h := range [...][2]string{{":" + kind + "-type", name}, {":content-type", "application/json"}, {":message-type", kind}} {
		f.out = append(append(f.out, byte(len(h[0]))), h[0]...)
		f.out = append(f.out, 7) // a text
		f.out = append(binary.BigEndian.AppendUint16(f.out, uint16(len(h[1]))), h[1]...)
	}
	headers := len(f.out) - begin - 12
	f.out = append(f.out, payload...)
	one := f.out[begin:]
	binary.BigEndian.PutUint32(one[0:], uint32(len(one)+4))
	binary.BigEndian.PutUint32(one[4:], uint32(headers))
	binary.BigEndian.PutUint32(one[8:], crc32.ChecksumIEEE(one[:8]))
	f.out = binary.BigEndian.AppendUint32(f.out, crc32.ChecksumIEEE(one))
}
