package frame

import (
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// Frame carries the raw bytes of one gRPC message.
type Frame struct {
	in   mem.BufferSlice
	flat []byte          // received, in one piece
	Out  [2][]byte       // to be sent; the second may be empty
	More mem.BufferSlice // to be sent after Out; gRPC frees it
}

// Bytes returns the received bytes. They are valid until Free.
func (f *Frame) Bytes() []byte { return f.flat }

// Free releases the received bytes.
func (f *Frame) Free() {
	f.in.Free()
	f.in, f.flat = nil, nil
}

// Take makes b the received bytes. The collector frees them.
func (f *Frame) Take(b []byte) {
	f.Free()
	f.flat = b
}

// Hold transfers the received bytes to the caller, who must call free when done. The Frame can
// then be used for the next message.
func (f *Frame) Hold() (free func()) {
	in := f.in
	f.in, f.flat = nil, nil
	return in.Free
}

// Codec passes Frames through unchanged and everything else to gRPC's protobuf codec, so that
// one gRPC server serves the processor and the other services.
type Codec struct {
	Proto  encoding.CodecV2
	Pieces mem.BufferPool // of NewPieces; nil: no buffer is used again
}

// Envoy sends a body in pieces of at most 64 KiB. gRPC's own pool would take 1 MiB for one.
const (
	smallestPiece = 32 << 10
	longestPiece  = 64<<10 + 1<<10 // with what is around it
)

// NewPieces returns a pool of buffers for messages with one piece of a body.
func NewPieces() mem.BufferPool { return mem.NewTieredBufferPool(longestPiece) }

// Name returns the content subtype that Envoy uses.
func (Codec) Name() string { return "proto" }

// Marshal returns the bytes of v. gRPC sends or copies them later, so Out must not be reused.
func (c Codec) Marshal(v any) (mem.BufferSlice, error) {
	f, ok := v.(*Frame)
	if !ok {
		return c.Proto.Marshal(v)
	}
	if len(f.More) > 0 {
		out := append(mem.BufferSlice{mem.SliceBuffer(f.Out[0]), mem.SliceBuffer(f.Out[1])}, f.More...)
		f.More = nil
		return out, nil
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
	if n := data.Len(); len(data) > 1 && c.Pieces != nil && n >= smallestPiece && n <= longestPiece {
		flat := data.MaterializeToBuffer(c.Pieces)
		f.in, f.flat = mem.BufferSlice{flat}, flat.ReadOnlyData()
		return nil
	}
	if len(data) > 1 {
		// The pieces are freed after the copy. A large body would otherwise take twice its size
		// for the duration of the request.
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
