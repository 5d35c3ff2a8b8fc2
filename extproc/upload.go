package extproc

import (
	"context"
	"runtime"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/frame"
	"github.com/modelgateway/modelgateway/extproc/message"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// upload is a body that comes in pieces. It belongs to its stream.
//
// Envoy keeps nothing of such a body: it sends each piece here as it comes, and waits
// while the processor takes none. So a caller without quota makes nobody hold a body.
// When the body is complete, the answer to the headers has the plan, and the body goes
// back in pieces, of which Envoy passes each on as it comes.
type upload struct {
	turns chan struct{} // the server's; see largeBody
	body  []byte
	ended bool // complete, or refused: what still comes is not read
}

// pieceSize is the most that goes back to Envoy in one message. It is what Envoy reads
// in one turn.
const pieceSize = 64 << 10

// pieceHead is room for what goes in front of a piece.
const pieceHead = 32

// largeBody is the length from which on bodies take turns: while one is scanned, others of
// that length wait. Otherwise a few of them take all cores for a second,
// and every short request waits for a core at each step.
const largeBody = 4 << 20

// leastUpload is the first size of the buffer for a body in pieces.
const leastUpload = 256 << 10

// newTurns returns what large bodies take turns at: half of the cores, at least one.
func newTurns() chan struct{} { return make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)) }

// piece takes a piece of the body. The last one dispatches the request.
func (d *session) piece(ctx context.Context, m *frame.Message) error {
	u := d.pieces
	if u.ended {
		return nil // on its way when the request was refused
	}
	if err := d.p.Room(d.x, len(u.body), len(m.Body)); err != nil {
		return d.refusePieces(ctx, err)
	}
	if err := d.x.Flight.Move(ctx, len(m.Body)); err != nil {
		return err
	}
	u.take(m.Body, d.x.Inbound.Length)
	if !m.End {
		return nil
	}
	u.ended = true
	d.x.Body, u.body = u.body, nil
	large := len(d.x.Body) >= largeBody
	if large {
		select {
		case u.turns <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	edit, err := d.admit(ctx)
	if large {
		<-u.turns
	}
	if err != nil {
		return d.refuse(ctx, err)
	}
	return d.sendPieces(ctx, edit)
}

// take appends a piece. A declared length is counted among the bytes in flight already, so
// its buffer is made at once; the system gives it memory as it fills. Other buffers double.
func (u *upload) take(piece []byte, declared int64) {
	if need := len(u.body) + len(piece); need > cap(u.body) {
		room := max(2*cap(u.body), leastUpload, int(declared))
		u.body = splice.Append(make([]byte, 0, max(room, need)), u.body)
	}
	u.body = append(u.body, piece...)
}

// refusePieces refuses a request whose body is not complete.
func (d *session) refusePieces(ctx context.Context, err error) error {
	d.pieces.ended, d.pieces.body = true, nil
	return d.refuse(ctx, err)
}

// sendPieces answers the headers with the plan, and then sends the body.
func (d *session) sendPieces(ctx context.Context, e *message.Edit) error {
	body := d.x.Body
	if e.Replace {
		body = e.Body
	} else {
		// The length is known now, whether or not the caller declared it.
		e.Set = append(e.Set, message.Header{Name: headerContentLength, Value: strconv.Itoa(len(body))})
	}
	head, _ := frame.AppendAnswer(d.plan(), frame.RequestHeaders, &frame.Mutation{Edit: message.Edit{Set: e.Set, Remove: e.Remove}, ClearRoute: true})
	err := d.send(head, nil)
	for err == nil && len(body) > pieceSize {
		err = d.sendPiece(ctx, frame.AppendPiece(make([]byte, 0, pieceHead), pieceSize), body[:pieceSize])
		body = body[pieceSize:]
	}
	if err == nil {
		err = d.sendPiece(ctx, frame.AppendLastPiece(make([]byte, 0, pieceHead), len(body)), body)
	}
	return afterDispatch(err)
}

func (d *session) sendPiece(ctx context.Context, head, piece []byte) error {
	if err := d.x.Flight.Move(ctx, len(piece)); err != nil {
		return err
	}
	return d.send(head, piece)
}

// requestTrailers refuses a body in pieces that ends with trailers. With trailers, Envoy's
// router would send the body twice if it keeps a copy for retries (envoyproxy/envoy#45470).
func (d *session) requestTrailers(ctx context.Context, m *frame.Message) error {
	if d.pieces == nil || d.pieces.ended || d.x == nil {
		return d.pass(m.Kind)
	}
	return d.refusePieces(ctx, fault.New(fault.Malformed, "", "The request ends with trailers, which the gateway does not take. Send it without trailers."))
}
