package frame

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// Frame carries the raw bytes of one message through gRPC.
type Frame struct {
	in   mem.BufferSlice
	flat []byte    // in, in one piece
	Out  [2][]byte // what is sent: the second may be empty
}

// Bytes returns the bytes received. They are valid until Free.
func (f *Frame) Bytes() []byte { return f.flat }

// Free gives back the bytes received.
func (f *Frame) Free() {
	f.in.Free()
	f.in, f.flat = nil, nil
}

// Hold hands the bytes received over to the caller, who must call free when
// done with them; the Frame can be used for the next message meanwhile.
func (f *Frame) Hold() (free func()) {
	in := f.in
	f.in, f.flat = nil, nil
	return in.Free
}

// Codec passes Frames through unread and everything else on to gRPC's own
// protobuf codec, so that one gRPC server serves the processor and the rest.
type Codec struct{ Proto encoding.CodecV2 }

// Name is the content subtype that Envoy uses.
func (Codec) Name() string { return "proto" }

// Marshal returns the bytes of v. gRPC has sent them, or copied what it could
// not send yet, only some time later: Out must not be reused.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*Frame)
	if !ok {
		return c.Proto.Marshal(v)
	}
	if len(f.Out[1]) == 0 {
		return mem.BufferSlice{mem.SliceBuffer(f.Out[0])}, nil
	}
	return mem.BufferSlice{mem.SliceBuffer(f.Out[0]), mem.SliceBuffer(f.Out[1])}, nil
}

// Unmarshal keeps a reference to the bytes of a message.
func (c Codec) Unmarshal(data mem.BufferSlice, v any) error {
	f, ok := v.(*Frame)
	if !ok {
		return c.Proto.Unmarshal(data, v)
	}
	f.Free()
	if len(data) > 1 {
		// The pieces are not kept with their copy: of a large body that would be twice
		// its size for as long as the request takes.
		f.flat = data.Materialize()
		return nil
	}
	data.Ref()
	f.in = data
	if len(data) == 1 {
		f.flat = data[0].ReadOnlyData()
	}
	return nil
}
