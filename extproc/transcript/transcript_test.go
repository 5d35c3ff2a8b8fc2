package transcript_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/transcript"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// segmentsOf returns the segments of a verbose transcription.
func segmentsOf(t interface{ Fatal(...any) }, format string, in *transcript.Transcript) []segment {
	o, err := transcript.Read(splice.ReadObject([]byte(`{"response_format":"` + format + `"}`)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := in.Restore(o)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Segments []segment `json:"segments"`
	}
	if err := json.Unmarshal(out.Body, &read); err != nil {
		t.Fatal(err, string(out.Body))
	}
	return read.Segments
}

type segment struct {
	Start   float64 `json:"start"`
	End     float64 `json:"end"`
	Text    string  `json:"text"`
	Speaker string  `json:"speaker"`
}

// Segments have all words in order, each once; none is longer than subtitles may be, unless it is one word, and none has two speakers.
func TestSegmentsHaveAllWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := 0.0
		var words []transcript.Word
		for range rapid.IntRange(1, 60).Draw(t, "words") {
			start := at + rapid.SampledFrom([]float64{0, 0.125, 0.5, 2}).Draw(t, "pause")
			at = start + rapid.SampledFrom([]float64{0, 0.25, 1, 8}).Draw(t, "length")
			words = append(words, transcript.Word{
				Before: " ", Text: rapid.SampledFrom([]string{"a", "fox.", "\u72d0\u3002", "why?", `end."`, strings.Repeat("x", 90)}).Draw(t, "text"),
				Start: start, End: at, Speaker: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "speaker"),
			})
		}
		rest, at := words, -1.0
		for _, s := range segmentsOf(t, "diarized_json", &transcript.Transcript{Text: "x", Words: words}) {
			n := len(strings.Fields(s.Text))
			if n == 0 || n > len(rest) || s.Start != rest[0].Start || s.Start < at || s.End != rest[n-1].End {
				t.Fatalf("%+v does not follow, before %+v", s, rest)
			}
			if n > 1 && (utf8.RuneCountInString(s.Text) > 84 || s.End-s.Start > 7) {
				t.Fatalf("%+v is too long", s)
			}
			for i, text := range strings.Fields(s.Text) {
				if rest[i].Text != text || rest[i].Speaker != rest[0].Speaker {
					t.Fatalf("%+v has other words, before %+v", s, rest)
				}
			}
			rest, at = rest[n:], s.Start
		}
		if len(rest) > 0 {
			t.Fatalf("words are lost: %+v", rest)
		}
	})
}

// Speakers have letters, in the order in which they speak.
func TestSpeakersHaveLetters(t *testing.T) {
	t.Parallel()
	var words []transcript.Word
	for i := range 60 {
		words = append(words, transcript.Word{Text: "a", Start: float64(i), End: float64(i), Speaker: string(rune('a' + i))})
	}
	words = append(words, transcript.Word{Text: "a", Start: 60, End: 60, Speaker: "b"})
	var got []string
	for _, s := range segmentsOf(t, "diarized_json", &transcript.Transcript{Text: "a", Words: words}) {
		got = append(got, s.Speaker)
	}
	if s := strings.Join(got, " "); !strings.HasPrefix(s, "A B C ") || !strings.HasSuffix(s, " Z AA AB AC AD AE AF AG AH AI AJ AK AL AM AN AO AP AQ AR AS AT AU AV AW AX AY AZ BA BB BC BD BE BF BG BH B") {
		t.Errorf("the speakers are %s", s)
	}
}

// FuzzSubtitles checks that no text of a provider's breaks the lines of subtitles.
func FuzzSubtitles(f *testing.F) {
	f.Add("a\r\n\r\n2\n00:00:00,000 --> 00:00:09,000\nb", 1e300, -1.0)
	f.Add("<b>&\u2028", 0.0005, 3599.9996)
	f.Fuzz(func(t *testing.T, text string, start, end float64) {
		in := transcript.Transcript{Text: text, Words: []transcript.Word{{Text: text, Start: start, End: end}}}
		for _, format := range []string{"srt", "vtt"} {
			o, err := transcript.Read(splice.ReadObject([]byte(`{"response_format":"` + format + `"}`)))
			if err != nil {
				t.Fatal(err)
			}
			out, err := in.Restore(o)
			if failure := (*wire.Failure)(nil); err != nil && !errors.As(err, &failure) {
				t.Fatalf("%v is no failure", err)
			}
			body := strings.TrimPrefix(string(out.Body), "WEBVTT\n\n")
			if strings.Count(body, "-->") != 1 || strings.Count(body, "\n\n") != 1 || !strings.HasSuffix(body, "\n\n") || strings.Contains(body, "\r") {
				t.Errorf("%s of %q: %q", format, text, body)
			}
		}
	})
}
