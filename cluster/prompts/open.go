package prompts

import "sync"

// maxOpen bounds the content of the versions that stay compiled, in bytes. Compiled, they take
// some times as much.
const maxOpen = 16 << 20

// openVersions are the versions that stay compiled: those that were used last, as far as their
// content is not more than maxOpen bytes. A version beyond that is compiled again for its next use.
type openVersions struct {
	mu    sync.Mutex
	queue []*packed // in the order in which they are looked at to be evicted
	bytes int

	composers sync.Pool // that render no request now
}

// openBytes is what an open version counts besides its content.
const openBytes = 1 << 10

func (p *packed) weight() int { return openBytes + int(p.prefix+p.suffix) + len(p.text) }

// keep keeps a version that was compiled, and evicts others for it that were not used since they
// were looked at before.
func (o *openVersions) keep(v *Version) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !v.packed.version.CompareAndSwap(nil, v) {
		return
	}
	o.queue = append(o.queue, v.packed)
	o.bytes += v.packed.weight()
	for looked := len(o.queue); o.bytes > maxOpen && len(o.queue) > 1; looked-- {
		first := o.queue[0]
		o.queue = o.queue[1:]
		if first.used.Swap(false) && looked > 0 {
			o.queue = append(o.queue, first)
			continue
		}
		first.version.Store(nil)
		o.bytes -= first.weight()
	}
}
