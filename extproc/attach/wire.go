package attach

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// headSize is the size of a message's head: its length and its stream, as numbers of 32 bits in
// the order of the machine's bytes, since both ends are on one machine.
const headSize = 8

// mostMessage is the length above which a message cannot be one.
const mostMessage = 1 << 30

// mostAtOnce is the length up to which memory for a message is taken before it has arrived.
const mostAtOnce = 1 << 20

// readMessage reads a message into memory of its own.
func readMessage(r *bufio.Reader) (stream uint32, message []byte, err error) {
	head, err := r.Peek(headSize)
	if err != nil {
		return 0, nil, err
	}
	length, stream := binary.NativeEndian.Uint32(head), binary.NativeEndian.Uint32(head[4:])
	if length > mostMessage {
		return 0, nil, fmt.Errorf("a message of %d bytes arrived; %d are possible", length, mostMessage)
	}
	if _, err := r.Discard(headSize); err != nil {
		return 0, nil, err
	}
	if length == 0 {
		return stream, nil, nil
	}
	if length > mostAtOnce {
		var b bytes.Buffer
		_, err := io.CopyN(&b, r, int64(length))
		return stream, b.Bytes(), err
	}
	message = make([]byte, length)
	_, err = io.ReadFull(r, message)
	return stream, message, err
}

// appendMessage appends a message that consists of two parts.
func appendMessage(dst []byte, stream uint32, head, tail []byte) []byte {
	dst = binary.NativeEndian.AppendUint32(dst, uint32(len(head)+len(tail)))
	dst = binary.NativeEndian.AppendUint32(dst, stream)
	return append(append(dst, head...), tail...)
}

// hello is the first message of a link: the worker that has it, and the number of workers.
type hello struct{ worker, workers uint32 }

// readHello reads the first message of a link.
func readHello(r *bufio.Reader) (hello, error) {
	stream, message, err := readMessage(r)
	if err != nil {
		return hello{}, err
	}
	if stream != 0 || len(message) != 8 {
		return hello{}, fmt.Errorf("the first message is for stream %d and has %d bytes; it must be for stream 0 and have 8", stream, len(message))
	}
	h := hello{binary.NativeEndian.Uint32(message), binary.NativeEndian.Uint32(message[4:])}
	if h.worker >= h.workers {
		return hello{}, fmt.Errorf("worker %d of %d", h.worker, h.workers)
	}
	return h, nil
}
