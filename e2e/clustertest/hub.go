//go:build linux

package clustertest

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sync/errgroup"
)

// packet is one that is under way.
type packet struct {
	from, to int
	due      time.Time
	seq      uint64 // of those due at once the one sent first goes first
	again    bool   // the second copy
	data     []byte
}

// schedule is a heap of packets, the one that is due first on top.
type schedule []packet

// Len is for container/heap.
func (s *schedule) Len() int { return len(*s) }

// Less is for container/heap.
func (s *schedule) Less(i, j int) bool {
	a, b := &(*s)[i], &(*s)[j]
	if !a.due.Equal(b.due) {
		return a.due.Before(b.due)
	}
	return a.seq < b.seq
}

// Swap is for container/heap.
func (s *schedule) Swap(i, j int) { (*s)[i], (*s)[j] = (*s)[j], (*s)[i] }

// Push is for container/heap.
func (s *schedule) Push(x any) { *s = append(*s, x.(packet)) }

// Pop is for container/heap.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	p := (*s)[last]
	(*s)[last] = packet{} // the data is not kept
	*s = (*s)[:last]
	return p
}

// Run carries packets until ctx ends; it returns why it could not go on, or nil.
// It is called once.
func (l *Lab) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, h := range l.hosts {
		group.Go(func() error { return l.read(ctx, h) })
	}
	group.Go(func() error { return l.deliverDue(ctx) })
	return group.Wait()
}

// read takes what a host sends.
func (l *Lab) read(ctx context.Context, h *Host) error {
	stop := context.AfterFunc(ctx, func() { _ = h.tun.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, maxPacket)
	for {
		n, err := h.tun.Read(buf)
		if ctx.Err() != nil {
			return nil // the deadline is how the reader is told to end
		}
		if err != nil {
			return fmt.Errorf("clustertest: read from host %d: %w", h.index, err)
		}
		if err := l.carry(h.index, buf[:n]); err != nil {
			return err
		}
	}
}

// destination returns the host that an IPv4 packet is for. Everything else, such
// as the multicasts that an interface sends by itself, is for nobody.
func (l *Lab) destination(data []byte) (int, bool) {
	if len(data) < 20 || data[0]>>4 != 4 {
		return 0, false
	}
	to, ok := l.byAddr[netip.AddrFrom4([4]byte(data[16:20]))]
	return to, ok
}

// carry delivers a packet at once, or puts it on its way, or drops it.
func (l *Lab) carry(from int, data []byte) error {
	to, ok := l.destination(data)
	if !ok || to == from {
		return nil
	}
	copies := l.admit(from, to, data)
	for i := range copies {
		if err := l.deliver(packet{from: from, to: to, again: i > 0, data: data}); err != nil {
			return err
		}
	}
	return nil
}

// admit decides on a packet and returns how often it is to be delivered at once.
// Copies for later are scheduled.
func (l *Lab) admit(from, to int, data []byte) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.mu.links[from][to]
	now := time.Now()
	f := line.decide(now, len(data))
	if l.cutLocked(from, to) {
		if f.copies > 0 {
			line.count.Cut++
		}
		return 0
	}
	if !f.due.After(now) && line.queued == 0 {
		return f.copies
	}
	for i := range f.copies {
		l.mu.seq++
		line.queued++
		p := packet{from: from, to: to, due: f.due, seq: l.mu.seq, again: i > 0, data: append([]byte(nil), data...)}
		heap.Push(&l.mu.underWay, p)
	}
	if f.copies > 0 && l.mu.underWay[0].seq > l.mu.seq-uint64(f.copies) {
		select {
		case l.sooner <- struct{}{}:
		default: // it has been told already
		}
	}
	return 0
}

// deliver hands a packet to the receiver's kernel, unless it was cut meanwhile.
func (l *Lab) deliver(p packet) error {
	l.mu.Lock()
	line := l.mu.links[p.from][p.to]
	cut := l.cutLocked(p.from, p.to)
	switch {
	case cut && !p.again:
		line.count.Cut++
	case !cut && p.again:
		line.count.Duplicated++
	case !cut:
		line.count.Delivered++
	}
	l.mu.Unlock()
	if cut {
		return nil
	}
	// Counted first: who has received a packet finds it in the counts.
	if _, err := l.hosts[p.to].tun.Write(p.data); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("clustertest: write to host %d: %w", p.to, err)
	}
	return nil
}

// deliverDue delivers what was scheduled, when it is due.
func (l *Lab) deliverDue(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.sooner:
		case <-timer.C:
		}
		next, err := l.deliverUntil(time.Now())
		if err != nil {
			return err
		}
		timer.Reset(next)
	}
}

// idle is how long deliverDue waits when nothing is under way.
const idle = time.Hour

// deliverUntil delivers all that is due and returns how long the next one has.
// Its packet counts as queued until it is written, so that none overtakes it.
func (l *Lab) deliverUntil(now time.Time) (time.Duration, error) {
	for {
		l.mu.Lock()
		if len(l.mu.underWay) == 0 {
			l.mu.Unlock()
			return idle, nil
		}
		if wait := l.mu.underWay[0].due.Sub(now); wait > 0 {
			l.mu.Unlock()
			return wait, nil
		}
		p := heap.Pop(&l.mu.underWay).(packet) // it holds nothing else
		l.mu.Unlock()
		err := l.deliver(p)
		l.mu.Lock()
		l.mu.links[p.from][p.to].queued--
		l.mu.Unlock()
		if err != nil {
			return 0, err
		}
	}
}
