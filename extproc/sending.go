package extproc

import (
	"math/bits"
	"sync"

	"google.golang.org/grpc/mem"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// sending is a body on its way to Envoy, with what changes in it. It is not copied: pieces refer
// to it and to the text of the changes. gRPC may send them after the request has ended, so they
// hold the body's buffer.
type sending struct {
	body  mem.Buffer
	at    int           // up to here it was sent
	edits []splice.Edit // of the rest
	with  string        // of an edit before at: what is left to send of its text
}

// next returns the next n bytes. There must be as many.
func (o *sending) next(n int) mem.BufferSlice {
	var out mem.BufferSlice
	for n > 0 {
		end := o.body.Len()
		if len(o.edits) > 0 {
			end = o.edits[0].Off
		}
		switch {
		case o.with != "":
			k := min(n, len(o.with))
			out = append(out, mem.SliceBuffer(o.with[:k]))
			o.with = o.with[k:]
			n -= k
		case o.at < end:
			k := min(n, end-o.at)
			out = append(out, o.body.Slice(o.at, o.at+k))
			o.at += k
			n -= k
		default:
			o.at, o.with, o.edits = o.edits[0].End, o.edits[0].With, o.edits[1:]
		}
	}
	return out
}

// buffer returns the buffer of a body: the upload's, unless a stage or a driver has made another
// body. That one may be a part of the upload's, whose buffer is then left to the collector.
func (u *upload) buffer(body []byte) mem.Buffer {
	if u.whole != nil && len(body) > 0 {
		if whole := u.whole.ReadOnlyData(); len(whole) == len(body) && &whole[0] == &body[0] {
			return u.whole
		}
		u.whole = nil
	}
	return mem.SliceBuffer(body)
}

// bodyPool keeps the buffers of long bodies, so that a body does not wait in memory for the
// collector while the next one comes. It forgets those that are not used, as sync.Pool does.
type bodyPool struct {
	classes [32 * classesPerOctave]sync.Pool // of *[]byte
}

// Buffers have the capacities 8, 9, … 15 times a power of two, so that one that was made for
// another length fits.
const classesPerOctave = 8

// smallestPooled is the smallest buffer that is kept: a smaller one is no burden.
const smallestPooled = 1 << 20

// class returns the smallest class whose buffers hold n bytes, and their capacity.
func class(n int) (index, capacity int) {
	const low = 3 // bits of classesPerOctave
	shift := max(bits.Len(uint(max(n-1, 0)))-low-1, 0)
	steps := (n + 1<<shift - 1) >> shift // at most 2 * classesPerOctave
	return shift*classesPerOctave + steps - classesPerOctave, steps << shift
}

// Get returns a buffer of a length.
func (p *bodyPool) Get(length int) *[]byte {
	if length < smallestPooled {
		b := make([]byte, length)
		return &b
	}
	i, capacity := class(length)
	if b, ok := p.classes[i].Get().(*[]byte); ok {
		*b = (*b)[:length]
		return b
	}
	b := make([]byte, length, capacity)
	return &b
}

// Put takes a buffer back. Nobody may use it any more.
func (p *bodyPool) Put(b *[]byte) {
	if cap(*b) < smallestPooled {
		return
	}
	if i, capacity := class(cap(*b)); capacity == cap(*b) {
		p.classes[i].Put(b)
	}
}
