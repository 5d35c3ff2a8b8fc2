package gossip_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"log/slog"
	mathrand "math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelgateway/modelgateway/cluster/gossip"
)

// label is how messages of the tests' clusters begin.
func label() []byte { return append([]byte{244, byte(len("modelgateway"))}, "modelgateway"...) }

// seal encrypts a message as memberlist does, with a key and a version of its choice.
func seal(t *testing.T, k []byte, version byte, plain, data []byte) []byte {
	t.Helper()
	block, err := aes.NewCipher(k)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := make([]byte, gcm.NonceSize())
	_, _ = rand.Read(nonce)
	return gcm.Seal(append([]byte{version}, nonce...), nonce, plain, data)
}

// sealPacket makes a packet.
func sealPacket(t *testing.T, k []byte, version byte, plain []byte) []byte {
	t.Helper()
	return append(label(), seal(t, k, version, plain, []byte("modelgateway"))...)
}

// sealStream makes what is sent over a stream.
func sealStream(t *testing.T, k []byte, version byte, plain []byte) []byte {
	t.Helper()
	head := binary.BigEndian.AppendUint32([]byte{10}, uint32(len(plain)+29))
	return append(append(label(), head...), seal(t, k, version, plain, append(bytes.Clone(head), "modelgateway"...))...)
}

// attack opens a stream to the first node, writes, and waits until the other
// side has closed it.
func (c *cluster) attack(from *port, b []byte) {
	c.t.Helper()
	conn, err := from.Dial(c.t.Context(), at(0))
	if err != nil {
		c.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(time.Hour)); err != nil {
		c.t.Fatal(err)
	}
	go func() { _, _ = conn.Write(b) }()
	for err == nil {
		_, err = conn.Read(make([]byte, 1000))
	}
	if ne, ok := err.(net.Error); ok && ne.Timeout() { //nolint:errorlint // net.Pipe returns it bare
		c.t.Errorf("%.20x: the stream is not closed", b)
	}
	_ = conn.Close()
}

// TestHostileNetwork: what strangers send changes nothing and stops nothing,
// and neither does what somebody with the key sends to make memberlist panic.
func TestHostileNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		enemy := c.port("enemy.example:1")
		other := bytes.Repeat([]byte{8}, 32)
		hint := append([]byte{8}, gossipHint(time.Now())...) // a user message
		garbage := func(n int) []byte {
			b := make([]byte, n)
			rnd := mathrand.New(mathrand.NewPCG(uint64(n), 1))
			for i := range b {
				b[i] = byte(rnd.Uint32())
			}
			return b
		}
		tooLarge := binary.BigEndian.AppendUint32(append(label(), 10), 20<<20+1)
		padded := make([]byte, 16)
		padded[15] = 255 // more padding than there is
		packets := [][]byte{
			{},
			{244},
			{244, 255, 1},
			label(), garbage(10), garbage(1400), garbage(60_000), hint,
			sealPacket(t, other, 1, hint), sealPacket(t, key(), 0, nil), sealPacket(t, key(), 0, padded), sealPacket(t, key(), 1, nil),
			sealPacket(t, key(), 2, hint), seal(t, key(), 1, hint, nil), sealPacket(t, key(), 1, []byte{7, 255, 1}), sealPacket(t, key(), 1, garbage(500)),
			sealPacket(t, key(), 1, []byte{8}), sealPacket(t, key(), 1, append([]byte{8}, garbage(500)...)),
		}
		for range 20 {
			for _, b := range packets {
				_ = enemy.WritePacket(b, at(0))
			}
			c.pass(time.Second)
		}
		for _, b := range [][]byte{
			{244},
			{244, 0},
			{244, 255, 1},
			label(), garbage(10), garbage(5000), append(label(), garbage(5000)...),
			append(tooLarge, garbage(5000)...), binary.BigEndian.AppendUint32(append(label(), 10), 1<<32-1), binary.BigEndian.AppendUint32(append(label(), 10), 0),
			sealStream(t, other, 1, hint), sealStream(t, key(), 1, nil), sealStream(t, key(), 0, nil), sealStream(t, key(), 0, padded), sealStream(t, key(), 1, garbage(500)),
			append(label(), 6, 1, 2, 3), append(label(), hint...),
		} {
			c.attack(enemy, b)
		}
		stranger := c.add("stranger", "stranger.example:1", func(cfg *gossip.Config) { cfg.Key, cfg.Join = other, []string{at(0)} })
		neighbour := c.add("neighbour", "neighbour.example:1", func(cfg *gossip.Config) { cfg.Label, cfg.Join = "another", []string{at(0)} })
		c.pass(time.Minute)
		for _, p := range c.peers[:3] {
			if c.alive(p) != 3 || len(p.state.Hints(time.Now())) != 0 {
				t.Errorf("%s: members %v, hints %v", p.name, p.Members(), p.state.Hints(time.Now()))
			}
		}
		if c.alive(stranger) != 1 || c.alive(neighbour) != 1 {
			t.Error("they have joined")
		}
		c.peers[1].state.Cool("d", 0, time.Now().Add(time.Minute))
		c.until("gossip goes on", func() bool { return len(hinted(c.peers[0], "d")) == 1 && len(hinted(c.peers[2], "d")) == 1 })
	})
}

// gossipHint is a message of a hint of an hour.
func gossipHint(now time.Time) []byte {
	s := gossip.NewState(gossip.StateConfig{Node: "somebody"})
	s.Cool("d", 0, now.Add(time.Hour))
	return s.Full(now)
}

// TestReplay: all packets of an hour, sent again after it, bring nothing back.
func TestReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		c.peers[1].state.Cool("d", 0, time.Now().Add(10*time.Minute))
		leaver := c.peers[2]
		leaver.state.SetCounter("n", 5)
		c.until("it is known", func() bool { return len(hinted(c.peers[0], "d")) == 1 && c.peers[0].state.Sum("n") == 5 })
		c.stop(leaver)
		recorded := c.sent()
		c.pass(15 * time.Minute)
		enemy := c.port("enemy.example:1")
		for i, b := range recorded {
			_ = enemy.WritePacket(b, at(0))
			if i%100 == 0 {
				c.pass(10 * time.Millisecond)
			}
		}
		c.pass(time.Second)
		for _, p := range c.peers {
			if hints := p.state.Hints(time.Now()); len(hints) != 0 || p.state.Sum("n") != 0 {
				t.Errorf("%s: hints %v, sum %d", p.name, hints, p.state.Sum("n"))
			}
		}
	})
}

// TestHostileMember: somebody with the key floods with hints and members and
// announces that others are dead. The others go on.
func TestHostileMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, 3)
		defer c.end()
		enemy := c.add("enemy", "enemy.example:1", func(cfg *gossip.Config) { cfg.Join = []string{at(0)} })
		var log bytes.Buffer
		victim := c.add("victim", "victim.example:1", func(cfg *gossip.Config) {
			cfg.Join, cfg.Logger = []string{at(0)}, slog.New(slog.NewTextHandler(&log, nil))
		})
		c.until("they are members", func() bool { return c.alive(c.peers[0]) == 5 })
		for i := range 300 {
			enemy.state.Cool(deployment(i), 0, time.Now().Add(time.Hour))
		}
		dead := []byte{5, 0x83} // a map of three, in msgpack
		for _, field := range []string{"Node", "victim", "From", "enemy"} {
			dead = append(append(dead, 0xa0|byte(len(field))), field...)
		}
		dead = append(append(dead, 0xab), "Incarnation"...)
		dead = append(dead, 0xcd, 0x03, 0xe8)
		for range 5 {
			for i := range 3 {
				_ = enemy.port.WritePacket(sealPacket(t, key(), 1, dead), at(i))
			}
			c.pass(2 * time.Second)
		}
		victim.state.Cool("d", 0, time.Now().Add(30*time.Minute))
		c.until("it is alive and heard", func() bool { return c.alive(c.peers[0]) == 5 && len(hinted(c.peers[0], "d")) == 1 })
		c.stop(victim)
		c.pass(time.Minute)
		if !strings.Contains(log.String(), "Refuting a") {
			t.Errorf("nobody took it for dead:\n%s", log.String())
		}
	})
}

// TestLog: memberlist's text becomes records with levels, without the key, and
// no flood of them.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		c := start(t, 1)
		defer c.end()
		p := c.add("logs", "logs.example:1", func(cfg *gossip.Config) {
			cfg.Join = []string{at(0)}
			cfg.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		c.pass(5 * time.Second)
		enemy := c.port("enemy.example:1")
		for _, n := range []int{1000, 1} {
			for range n {
				_ = enemy.WritePacket(sealPacket(t, bytes.Repeat([]byte{8}, 32), 1, []byte{8}), "logs.example:1")
			}
			c.pass(5 * time.Second)
		}
		c.stop(p)
		c.pass(time.Minute)
		text := out.String()
		if n := strings.Count(text, "Decrypt packet failed"); n == 0 || n > 20 {
			t.Errorf("%d lines of bad packets", n)
		}
		for _, want := range []string{"level=WARN msg=gossip text=\"Decrypt packet failed", "level=DEBUG msg=gossip text=", "lines_dropped="} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in\n%s", want, text)
			}
		}
		if strings.Contains(text, string(key())) || strings.Contains(text, "memberlist:") {
			t.Errorf("the log tells too much:\n%s", text)
		}
	})
}
