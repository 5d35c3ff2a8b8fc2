package extproc

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/mem"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Pieces of any length have together what splice.Apply makes, and release the body's buffer.
func TestSendsAroundEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		body := rapid.SliceOfN(rapid.Byte(), 2000, 3000).Draw(t, "body") // above gRPC's threshold of buffers that are freed
		var edits []splice.Edit
		for at := 0; len(edits) < 6; {
			off := rapid.IntRange(at, len(body)).Draw(t, "off")
			at = rapid.IntRange(off, min(off+50, len(body))).Draw(t, "end")
			edits = append(edits, splice.Edit{Off: off, End: at, With: rapid.StringN(0, 20, 100).Draw(t, "with")})
		}
		want := splice.Apply(nil, body, edits)
		pool := &pooled{}
		held := bytes.Clone(body)
		buffer := mem.NewBuffer(&held, pool)
		s := sending{body: buffer, edits: edits}
		var sent []mem.BufferSlice
		for left := splice.Length(body, edits); left > 0; {
			n := min(left, rapid.IntRange(1, 700).Draw(t, "piece"))
			sent = append(sent, s.next(n))
			left -= n
		}
		buffer.Free()
		if pool.put > 0 {
			t.Fatal("the buffer is released before its pieces are sent")
		}
		var got []byte
		for _, piece := range sent {
			got = append(got, piece.Materialize()...)
			piece.Free()
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the pieces have\n%q, want\n%q", got, want)
		}
		if pool.put != 1 {
			t.Errorf("the buffer was released %d times", pool.put)
		}
	})
}

// pooled is a pool that counts what it gets back.
type pooled struct{ put int }

func (*pooled) Get(n int) *[]byte { b := make([]byte, n); return &b }
func (c *pooled) Put(*[]byte)     { c.put++ }

// A buffer's class has room for its length, wastes an eighth of it at most, and is that of the buffer's capacity.
func TestClassesOfBuffers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(smallestPooled, 1<<31-1).Draw(t, "length")
		i, capacity := class(n)
		if capacity < n || capacity-n > n/classesPerOctave {
			t.Errorf("%d bytes get %d", n, capacity)
		}
		if again, same := class(capacity); again != i || same != capacity {
			t.Errorf("a buffer of %d bytes from class %d goes back to class %d of %d bytes", capacity, i, again, same)
		}
		var p bodyPool
		if i >= len(p.classes) {
			t.Errorf("%d bytes have the class %d", n, i)
		}
	})
}
