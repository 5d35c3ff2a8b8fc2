package gossip

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// The outside of memberlist's messages. A label comes first, if there is one;
// then, in a stream, a type and a length; then the encryption's version, a
// nonce, the message and a tag.
const (
	typeLabel     = 244
	typeEncrypted = 10
	encryption    = 1               // AES-GCM without padding
	leastSealed   = 1 + 12 + 1 + 16 // of a message of one byte
	mostSealed    = 20 << 20
)

// errForm is what is wrong with a message whose outside is not right.
var errForm = errors.New("gossip: not an encrypted message")

// checkPacket refuses a packet that memberlist would panic on or could not read.
// memberlist trusts whoever has the key: it would take off the padding of the
// old encryption without looking how much there can be. Nobody here uses that.
func checkPacket(b []byte) error {
	if len(b) >= 2 && b[0] == typeLabel {
		n := 2 + int(b[1])
		if len(b) < n {
			return errForm
		}
		b = b[n:]
	}
	if len(b) < leastSealed || b[0] != encryption {
		return errForm
	}
	return nil
}

// guarded is a stream whose beginning is looked at before memberlist reads it,
// for it would panic on an empty message and read up to 20 MiB of anything.
type guarded struct {
	net.Conn
	begun bool
	head  []byte // what was looked at and not yet read
	err   error
}

// Read reads; memberlist does so from one goroutine at a time.
func (g *guarded) Read(b []byte) (int, error) {
	if !g.begun {
		g.begun = true
		g.err = g.begin()
	}
	if g.err != nil {
		return 0, g.err
	}
	if len(g.head) > 0 {
		n := copy(b, g.head)
		g.head = g.head[n:]
		return n, nil
	}
	return g.Conn.Read(b)
}

// begin reads and checks the beginning.
func (g *guarded) begin() error {
	if err := g.more(1); err != nil {
		return err
	}
	at := 0
	if g.head[0] == typeLabel {
		if err := g.more(1); err != nil {
			return err
		}
		at = 2 + int(g.head[1])
		if err := g.more(at - 2 + 1); err != nil {
			return err
		}
	}
	if g.head[at] != typeEncrypted {
		return errForm
	}
	if err := g.more(5); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(g.head[at+1:])
	if length < leastSealed || length > mostSealed || g.head[at+5] != encryption {
		return errForm
	}
	return nil
}

// more reads n bytes more. That the stream ends before its first byte is no error of form.
func (g *guarded) more(n int) error {
	old := len(g.head)
	g.head = append(g.head, make([]byte, n)...)
	_, err := io.ReadFull(g.Conn, g.head[old:])
	if err == nil || old == 0 && errors.Is(err, io.EOF) {
		return err
	}
	return errors.Join(errForm, err)
}
