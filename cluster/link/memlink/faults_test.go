package memlink_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/link"
	"github.com/modelgateway/modelgateway/cluster/link/memlink"
)

func TestAPartitionHoldsUpAndHealDelivers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Partition([]string{here}, []string{there})
		p.say(t, "hello")
		if err := p.afar.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		var timeout net.Error
		if _, err := p.afar.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("in the partition: %v", err)
		}
		if err := p.afar.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		p.network.Heal()
		heard(t, p.afar, "hello")
	})
}

func TestWhoIsInNoGroupIsAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		third := p.network.Node("10.0.0.3:7400", "three")
		p.network.Partition([]string{here})
		if _, err := third.Dial(t.Context(), there, link.Raft); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := third.Dial(ctx, here, link.Raft); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("across: %v", err)
		}
	})
}

func TestADialAcrossAPartitionSucceedsOnceItHeals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Isolate(there)
		dialled := make(chan error, 1)
		go func() {
			_, err := p.here.Dial(t.Context(), there, link.Peer)
			dialled <- err
		}()
		time.AfterFunc(2*time.Second, p.network.Heal)
		if err := <-dialled; err != nil {
			t.Error(err)
		}
	})
}

func TestOneWayStopsOneWayOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.OneWay(here, there)
		p.say(t, "lost for now")
		if _, err := p.afar.Write([]byte("back")); err != nil {
			t.Fatal(err)
		}
		heard(t, p.near, "back")
		if err := p.here.WritePacket([]byte("gone"), there); err != nil {
			t.Fatal(err)
		}
		if err := p.there.WritePacket([]byte("comes"), here); err != nil {
			t.Fatal(err)
		}
		if text, _ := packet(t, p.here); text != "comes" {
			t.Errorf("got %q", text)
		}
		p.network.Heal()
		heard(t, p.afar, "lost for now")
		if err := p.here.WritePacket([]byte("second"), there); err != nil {
			t.Fatal(err)
		}
		if text, from := packet(t, p.there); text != "second" || from != here {
			t.Errorf("got %q from %s", text, from)
		}
	})
}

func packet(t *testing.T, l *memlink.Link) (text, from string) {
	t.Helper()
	b := make([]byte, 1<<16)
	n, addr, err := l.ReadPacket(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n]), addr.String()
}

func TestDelayKeepsTheOrderOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Delay(100*time.Millisecond, 50*time.Millisecond)
		p.network.Loss(0.3)
		want := ""
		for i := range 50 {
			word := fmt.Sprintf("%d,", i)
			want += word
			p.say(t, word)
		}
		if took := heard(t, p.afar, want); took < 100*time.Millisecond {
			t.Errorf("it took %s", took)
		}
	})
}

func TestALostPacketIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Loss(0.5)
		const sent = 1000
		for range sent {
			if err := p.here.WritePacket([]byte("x"), there); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.there.SetPacketDeadline(time.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		came := 0
		for {
			if _, _, err := p.there.ReadPacket(make([]byte, 1)); err != nil {
				break
			}
			came++
		}
		if came < sent/3 || came > sent*2/3 {
			t.Errorf("%d of %d came", came, sent)
		}
	})
}

func TestACrashResetsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Delay(time.Second, 0)
		if _, err := p.afar.Write([]byte("never arrives")); err != nil {
			t.Fatal(err)
		}
		p.network.Crash(there)
		if _, err := p.near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reading: %v", err)
		}
		if _, err := p.near.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("writing: %v", err)
		}
		if _, err := p.afar.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the dead one reads: %v", err)
		}
		if _, err := p.there.Listener(link.Raft).Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the dead one accepts: %v", err)
		}
		if _, err := p.here.Dial(t.Context(), there, link.Raft); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dialling: %v", err)
		}
	})
}

func TestACrashBehindAPartitionIsNoticedAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.network.Partition([]string{here}, []string{there})
		p.network.Crash(there)
		p.say(t, "is anybody there?")
		p.network.Heal()
		if _, err := p.near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reading: %v", err)
		}
	})
}

func TestARestartedNodeReplacesWhatWasThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		again := p.network.Node(there, "two again")
		if _, err := p.near.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the old connection: %v", err)
		}
		conn, err := p.here.DialNode(t.Context(), there, "two again", link.Raft)
		if err != nil {
			t.Fatal(err)
		}
		afar, err := again.Listener(link.Raft).Accept()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		heard(t, afar, "hello")
		// What is left of the old one does the new one no harm.
		if err := p.there.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.here.Dial(t.Context(), there, link.Peer); err != nil {
			t.Error(err)
		}
	})
}

// Whatever goes wrong on the way: a stream delivers what was written, once and in
// order, and everything of it once nothing is wrong any more.
func TestAStreamDeliversWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		faults := rapid.SliceOfN(rapid.IntRange(0, 6), 1, 30).Draw(rt, "faults")
		seed := rapid.Uint64().Draw(rt, "seed")
		var wrong string
		synctest.Test(t, func(t *testing.T) { wrong = stormy(t, seed, faults) })
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

func stormy(t *testing.T, seed uint64, faults []int) string {
	t.Helper()
	p := &pair{network: memlink.New(seed)}
	p.here, p.there = p.network.Node(here, "one"), p.network.Node(there, "two")
	p.near, p.afar = p.connect(t)
	received := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(p.afar) // an early end shows in what is missing
		received <- all
	}()
	var sent []byte
	for i, f := range faults {
		switch f {
		case 0:
			p.network.Partition([]string{here}, []string{there})
		case 1:
			p.network.OneWay(here, there)
		case 2:
			p.network.OneWay(there, here)
		case 3:
			p.network.Heal()
		case 4:
			p.network.Delay(time.Duration(i)*10*time.Millisecond, 20*time.Millisecond)
		case 5:
			p.network.Loss(0.4)
		case 6:
			<-time.After(300 * time.Millisecond)
		}
		piece := slices.Repeat([]byte{byte(i)}, 1+i*97)
		if _, err := p.near.Write(piece); err != nil {
			return err.Error()
		}
		sent = append(sent, piece...)
	}
	_ = p.near.Close() // the end is read at the other side
	p.network.Heal()
	if got := <-received; !slices.Equal(got, sent) {
		return fmt.Sprintf("%d bytes were sent and %d came, or others", len(sent), len(got))
	}
	return ""
}
