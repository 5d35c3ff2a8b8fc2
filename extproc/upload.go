package extproc

import (
	"context"
	"runtime"
	"strconv"
	"sync"

	"google.golang.org/grpc/mem"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/inbound"
	"github.com/modelgateway/modelgateway/extproc/message"
)

// upload is a body that comes in pieces. It belongs to its stream.
//
// Envoy keeps nothing of such a body: it sends each piece to the processor, and waits while
// the processor takes none. So no process holds the body of a caller without quota. When the
// body is complete, the answer to the headers has the plan. Then the body goes back in
// pieces, and Envoy forwards each of them at once.
type upload struct {
	room   *uploads
	length int
	body   *[]byte    // if its length is declared
	blocks []*block   // if it is not: all are full but the last
	whole  mem.Buffer // when it is complete
	ended  bool       // complete, or rejected: later pieces are not read
}

// block is a part of a body of undeclared length. Buffers that grow by doubling would leave
// more garbage than the bodies themselves, and many bodies would keep the collector running.
type block [64 << 10]byte

// uploads is the state that the uploads of a server share.
type uploads struct {
	turns  chan struct{} // see largeBody
	blocks sync.Pool     // of *block
	bodies bodyPool
}

func newUploads() *uploads {
	return &uploads{turns: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), blocks: sync.Pool{New: func() any { return new(block) }}}
}

// pieceSize bounds a piece that goes back to Envoy. Envoy reads as much per iteration of its
// event loop.
const pieceSize = 64 << 10

// pieceHead is the capacity for the encoding in front of a piece.
const pieceHead = 32

// largeBody is the length from which bodies take turns: while one is scanned, others of that
// length wait. Otherwise a few of them would take all cores for a second, and every short
// request would wait for a core at each step.
const largeBody = 4 << 20

// piece takes a piece of the body. The last one dispatches the request.
func (d *session) piece(ctx context.Context, m *frame.Message) error {
	u := d.pieces
	if u.ended {
		return nil // in transit when the request was rejected
	}
	if err := d.p.Room(d.x, u.length, len(m.Body)); err != nil {
		return d.rejectPieces(ctx, err)
	}
	if err := d.x.Flight.Move(ctx, len(m.Body)); err != nil {
		return err
	}
	u.take(m.Body, d.x.Inbound.Length)
	if !m.End {
		return nil
	}
	u.ended = true
	large := u.length >= largeBody
	if large {
		select {
		case u.room.turns <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.x.Body = u.complete()
	edit, instead := d.admit(ctx)
	if large {
		<-u.room.turns
	}
	if instead != nil {
		return d.immediate(instead)
	}
	return d.sendPieces(ctx, edit)
}

// take appends a piece. A declared length is reserved already, so its buffer is made at once;
// the system allocates its pages as it fills.
func (u *upload) take(piece []byte, declared int64) {
	u.length += len(piece)
	if declared != inbound.Undeclared {
		if u.body == nil {
			u.body = u.room.bodies.Get(int(declared))
			*u.body = (*u.body)[:0]
		}
		*u.body = append(*u.body, piece...)
		return
	}
	for len(piece) > 0 {
		at := (u.length - len(piece)) % len(block{})
		if at == 0 {
			u.blocks = append(u.blocks, u.room.blocks.Get().(*block))
		}
		piece = piece[copy(u.blocks[len(u.blocks)-1][at:], piece):]
	}
}

// complete returns the complete body in one buffer, which the upload holds until drop.
func (u *upload) complete() []byte {
	if len(u.blocks) > 0 {
		u.body = u.room.bodies.Get(u.length)
		body := (*u.body)[:0]
		for i, b := range u.blocks {
			body = append(body, b[:min(len(b), u.length-len(body))]...)
			u.room.blocks.Put(b)
			u.blocks[i] = nil
		}
		*u.body, u.blocks = body, nil
	}
	if u.body == nil {
		return nil
	}
	u.whole, u.body = mem.NewBuffer(u.body, &u.room.bodies), nil
	return u.whole.ReadOnlyData()
}

// drop releases the buffers of the body. What gRPC has not sent yet keeps its own.
func (u *upload) drop() {
	for _, b := range u.blocks {
		u.room.blocks.Put(b)
	}
	if u.body != nil {
		u.room.bodies.Put(u.body)
	}
	if u.whole != nil {
		u.whole.Free()
	}
	u.body, u.blocks, u.whole = nil, nil, nil
}

// letBodyGo releases the body of a request that is settled: no attempt and no count needs it any
// more. The caller's next request may come before Envoy ends this stream, and can then have the
// buffer.
func (d *session) letBodyGo() {
	if d.pieces != nil {
		d.pieces.drop()
	}
}

// rejectPieces rejects a request whose body is not complete.
func (d *session) rejectPieces(ctx context.Context, err error) error {
	d.pieces.ended = true
	d.pieces.drop()
	return d.reject(ctx, err)
}

// sendPieces answers the headers with the plan, and then sends the body.
func (d *session) sendPieces(ctx context.Context, e *message.Edit) error {
	if !e.Replace {
		e.Body = d.x.Body
		// The length is known now, whether or not the caller declared it.
		e.Set = append(e.Set, message.Header{Name: "content-length", Value: strconv.Itoa(len(e.Body))})
	}
	head, _ := frame.AppendAnswer(d.plan(), frame.RequestHeaders, &frame.Mutation{Edit: message.Edit{Set: e.Set, Remove: e.Remove}, ClearRoute: true})
	err := d.send(head, nil)
	out := sending{body: d.pieces.buffer(e.Body), edits: e.Splices}
	for left := e.Length(); err == nil; {
		n := min(left, pieceSize)
		if left -= n; left == 0 {
			err = d.sendPiece(ctx, frame.AppendLastPiece(make([]byte, 0, pieceHead), n), &out, n)
			break
		}
		err = d.sendPiece(ctx, frame.AppendPiece(make([]byte, 0, pieceHead), n), &out, n)
	}
	d.x.Flight.Moved()
	return afterDispatch(err)
}

func (d *session) sendPiece(ctx context.Context, head []byte, out *sending, n int) error {
	if err := d.x.Flight.Move(ctx, n); err != nil {
		return err
	}
	return d.conn.sendPiece(head, out.next(n))
}

// requestTrailers rejects a body in pieces that ends with trailers. With trailers, Envoy's
// router would send the body twice if it keeps a copy for retries (envoyproxy/envoy#45470).
func (d *session) requestTrailers(ctx context.Context, m *frame.Message) error {
	if d.pieces == nil || d.pieces.ended || d.x == nil {
		return d.pass(m.Kind)
	}
	return d.rejectPieces(ctx, fault.New(fault.Malformed, "", "The request ends with trailers, which the gateway does not accept. Send it without trailers."))
}
