package cluster

import (
	"errors"
	"io"
)

// pieceSize is how much of a file goes in one message, in bytes.
const pieceSize = 256 << 10

// sendPieces sends what r has. A piece is valid until send returns.
func sendPieces(r io.Reader, send func(piece []byte) error) error {
	buffer := make([]byte, pieceSize)
	for {
		n, err := io.ReadFull(r, buffer)
		if n > 0 {
			if serr := send(buffer[:n]); serr != nil {
				return serr
			}
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// pieces reads what another node sends.
type pieces struct {
	next func() ([]byte, error) // io.EOF at the end
	left []byte
}

// Read reads the next bytes.
func (p *pieces) Read(b []byte) (int, error) {
	for len(p.left) == 0 {
		piece, err := p.next()
		if err != nil {
			return 0, err
		}
		p.left = piece
	}
	n := copy(b, p.left)
	p.left = p.left[n:]
	return n, nil
}
