package gossip

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
)

// The envelope of memberlist's messages. An optional label comes first; in a stream a type and
// a length follow; then the encryption version, a nonce, the message and a tag.
const (
	typeLabel     = 244
	typeEncrypted = 10
	encryption    = 1               // AES-GCM without padding
	leastSealed   = 1 + 12 + 1 + 16 // of a one-byte message
	mostSealed    = 20 << 20
)

// errForm reports a message with an invalid envelope.
var errForm = errors.New("gossip: not an encrypted message")

// checkPacket rejects a packet on which memberlist would panic or that it could not read.
// memberlist trusts all holders of the key: it removes the padding of the old encryption
// without a bounds check. No node here uses that encryption.
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

// guarded is a stream that checks its beginning before memberlist reads it. memberlist would
// panic on an empty message, and read up to 20 MiB of anything.
type guarded struct {
	net.Conn
	begun bool
	head  []byte // checked and not yet read
	err   error
}

// Read implements net.Conn; memberlist calls it from one goroutine at a time.
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

// begin reads and checks the envelope.
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

// more reads n more bytes. The end of the stream before its first byte is not errForm.
func (g *guarded) more(n int) error {
	old := len(g.head)
	g.head = append(g.head, make([]byte, n)...)
	_, err := io.ReadFull(g.Conn, g.head[old:])
	if err == nil || old == 0 && errors.Is(err, io.EOF) {
		return err
	}
	return errors.Join(errForm, err)
}
