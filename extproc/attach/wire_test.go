package attach

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzReadMessage reads any bytes as messages. What is read is what appendMessage would have
// written, and anything else is an error.
func FuzzReadMessage(f *testing.F) {
	f.Add(appendMessage(nil, 1, []byte("he"), []byte("llo")))
	f.Add(appendMessage(appendMessage(nil, 0, nil, nil), 1<<31, []byte("x"), nil))
	f.Add([]byte{255, 255, 255, 255, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bufio.NewReader(bytes.NewReader(b))
		var again []byte
		for {
			stream, message, err := readMessage(r)
			if err != nil {
				if len(again) == len(b) && !errors.Is(err, io.EOF) {
					t.Fatalf("after %d of %d bytes: %v", len(again), len(b), err)
				}
				break
			}
			again = appendMessage(again, stream, message, nil)
		}
		if !bytes.HasPrefix(b, again) {
			t.Fatalf("%x was read as %x", b, again)
		}
		if _, err := readHello(bufio.NewReader(bytes.NewReader(b))); err == nil && len(b) < 16 {
			t.Fatalf("%x is no first message", b)
		}
	})
}
