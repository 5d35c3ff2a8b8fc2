package gemini_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// spokenParts is a response with parts of sound.
func spokenParts(t *rapid.T, parts [][2]string) []byte {
	var list []map[string]any
	for _, p := range parts {
		list = append(list, map[string]any{"inlineData": map[string]string{"mimeType": p[0], "data": base64.StdEncoding.EncodeToString([]byte(p[1]))}})
	}
	body, err := json.Marshal(map[string]any{"candidates": []any{map[string]any{"content": map[string]any{"parts": list}, "finishReason": "STOP"}}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// heardAs returns what a caller gets of a response with speech.
func heardAs(t *rapid.T, ask string, body []byte) driver.Restored {
	var facts splice.Request
	if err := splice.ScanInputs(splice.Input)([]byte(ask), &facts); err != nil {
		t.Fatal(err)
	}
	out, err := gemini.Driver{}.Restore(&driver.Original{Endpoint: driver.Speech, Facts: &facts}, body, "m")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// streamedAs returns the sound that a caller gets if each part is an event.
func streamedAs(t *rapid.T, ask string, parts [][2]string) []byte {
	var facts splice.Request
	if err := splice.ScanInputs(splice.Input)([]byte(ask), &facts); err != nil {
		t.Fatal(err)
	}
	s := gemini.Driver{}.SpeechStream(&driver.Original{Endpoint: driver.Speech, Facts: &facts})
	var events, sound []byte
	for i := range parts {
		var err error
		if events, err = s.Event(events, spokenParts(t, parts[i:i+1])); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(s.End(events))) {
		if _, data, ok := strings.Cut(line, `"audio":"`); ok {
			piece, err := base64.StdEncoding.DecodeString(data[:strings.IndexByte(data, '"')])
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			sound = append(sound, piece...)
		}
	}
	return sound
}

// Samples reach the caller as they were, in whatever parts they come: alone, in a WAV file, and in an event. A WAV file that the gateway has
// written is one that it reads.
func TestSpeechKeepsSamples(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parts [][2]string
		var all []byte
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			samples := rapid.SliceOfN(rapid.Byte(), 2, 40).Draw(t, "samples")
			samples = samples[:len(samples)&^1]
			all = append(all, samples...)
			parts = append(parts, [2]string{"audio/L16;codec=pcm;rate=24000", string(samples)})
		}
		const ask = `{"model":"m","input":"a","voice":"b","response_format":"`
		pcm := heardAs(t, ask+`pcm"}`, spokenParts(t, parts))
		if !bytes.Equal(pcm.Body, all) || pcm.Media != "audio/pcm" {
			t.Fatalf("%x became %x as %s", all, pcm.Body, pcm.Media)
		}
		wav := heardAs(t, ask+`wav"}`, spokenParts(t, parts))
		if wav.Media != "audio/wav" || len(wav.Body) != 44+len(all) || int(binary.LittleEndian.Uint32(wav.Body[4:])) != len(wav.Body)-8 {
			t.Fatalf("the file is %x as %s", wav.Body, wav.Media)
		}
		again := heardAs(t, ask+`pcm"}`, spokenParts(t, [][2]string{{"audio/wav", string(wav.Body)}}))
		if !bytes.Equal(again.Body, all) {
			t.Fatalf("%x became %x by way of a file", all, again.Body)
		}
		stream := streamedAs(t, ask+`wav","stream_format":"sse"}`, parts)
		if !bytes.Equal(stream[44:], all) || !bytes.Equal(stream[8:40], wav.Body[8:40]) {
			t.Fatalf("%x became %x in events", all, stream)
		}
		events := heardAs(t, ask+`pcm","stream_format":"sse"}`, spokenParts(t, parts))
		if !strings.Contains(string(events.Body), `"audio":"`+base64.StdEncoding.EncodeToString(all)+`"`) || !strings.HasSuffix(string(events.Body), ".done\"}\n\n") {
			t.Fatalf("the events are %s", events.Body)
		}
	})
}

// FuzzSpokenFile checks that no file of a provider's makes the gateway panic, and that what it makes of one is no longer than it.
func FuzzSpokenFile(f *testing.F) {
	for _, s := range []string{"RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\xc0]\x00\x00\x80\xbb\x00\x00\x02\x00\x10\x00data\xff\xff\xff\xff\x01\x00", "RIFF\x00\x00\x00\x00WAVEdata\x01\x00\x00\x00", "RIFF", ""} {
		f.Add([]byte(s), "audio/wav")
	}
	f.Add([]byte("\x01"), "audio/L16;rate=x")
	f.Fuzz(func(t *testing.T, file []byte, kind string) {
		text, err := json.Marshal(kind)
		if err != nil {
			return
		}
		body := `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":` + string(text) + `,"data":"` + base64.StdEncoding.EncodeToString(file) + `"}}]}}]}`
		var facts splice.Request
		if err := splice.ScanInputs(splice.Input)([]byte(`{"model":"m","input":"a","voice":"b","response_format":"pcm"}`), &facts); err != nil {
			t.Fatal(err)
		}
		out, err := gemini.Driver{}.Restore(&driver.Original{Endpoint: driver.Speech, Facts: &facts}, []byte(body), "m")
		if err == nil && (len(out.Body) == 0 || len(out.Body) > len(file)) {
			t.Errorf("%x as %q became %x", file, kind, out.Body)
		}
	})
}
