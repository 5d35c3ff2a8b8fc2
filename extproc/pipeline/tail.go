package pipeline

import "github.com/modelgateway/modelgateway/extproc/splice"

// withhold keeps an event of a stream without a mark of its end, which may be the last one: until the next event,
// or until the request is settled.
func (r *Relay) withhold(e *splice.Event) {
	r.diverge()
	before := len(r.out)
	r.rewrite(e)
	r.tail = append(r.tail, r.out[before:]...)
	r.out = r.out[:before]
}

// release sends what is withheld.
func (r *Relay) release() {
	if len(r.tail) > 0 {
		r.diverge()
		r.out, r.tail = append(r.out, r.tail...), r.tail[:0]
	}
}
