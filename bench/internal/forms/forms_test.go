package forms

import (
	"bytes"
	"encoding/binary"
	"io"
	"mime"
	"mime/multipart"
	"testing"
)

func TestTranscription(t *testing.T) {
	_, params, err := mime.ParseMediaType(ContentType)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1024, 1025, 1 << 20} {
		form := Transcription("whisper", size)
		if len(form) != size {
			t.Errorf("%d bytes for %d", len(form), size)
		}
		r := multipart.NewReader(bytes.NewReader(form), params["boundary"])
		model, file := part(t, r, "model"), part(t, r, "file")
		if string(model) != "whisper" {
			t.Errorf("the model is %q", model)
		}
		if string(file[:4]) != "RIFF" || int(binary.LittleEndian.Uint32(file[40:])) != len(file)-header {
			t.Errorf("not a WAV file of %d bytes: %x", len(file), file[:header])
		}
		if _, err := r.NextPart(); err != io.EOF {
			t.Errorf("after the file: %v", err)
		}
	}
}

func part(t *testing.T, r *multipart.Reader, name string) []byte {
	t.Helper()
	p, err := r.NextPart()
	if err != nil || p.FormName() != name {
		t.Fatalf("no part %s: %v", name, err)
	}
	b, err := io.ReadAll(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
