package pii_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/guard/engine"
	"github.com/modelgateway/modelgateway/extproc/guard/engine/enginetest"
	"github.com/modelgateway/modelgateway/extproc/guard/pii"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// words is an engine that finds words of a list, and needs to see the word after one. It stands for an engine that
// finds names.
type words map[string]string

func (w words) Scanner() engine.Scanner { return &wordScanner{words: w} }

type wordScanner struct {
	words words
	begun int
	over  bool
}

func (s *wordScanner) Begin(texts.Kind, texts.Role) { s.begun++ }
func (s *wordScanner) Fork() engine.Scanner         { return &wordScanner{words: s.words} }
func (s *wordScanner) Reset()                       { s.begun = 0 }

func (s *wordScanner) Scan(_ context.Context, text []byte, at int, end bool, found []engine.Finding) ([]engine.Finding, int, error) {
	s.over = end
	for at < len(text) {
		rest := string(text[at:])
		word, after, _ := strings.Cut(rest, " ")
		if !strings.Contains(after, " ") && !s.over && len(rest) < 200 {
			break
		}
		name := strings.Trim(word, ".,")
		if entity, ok := s.words[name]; ok {
			found = append(found, engine.Finding{Start: at, End: at + len(name), Entity: entity, Score: 0.85})
		}
		at += min(len(word)+1, len(rest))
	}
	return found, at, nil
}

// TestSettings: each setting does what it says.
func TestSettings(t *testing.T) {
	t.Parallel()
	names := words{"Ada": "PERSON", "Paris": "LOCATION", "https://ada.example.com/Paris": "PERSON", "ada@example.com": "PERSON"}
	for name, tc := range map[string]struct {
		settings pii.Settings
		want     string
	}{
		"only some":           {pii.Settings{Entities: []string{"PHONE_NUMBER"}}, "a@b.example.com [PHONE_NUMBER:+14155550132] 192.168.0.1"},
		"without urls":        {pii.Settings{Entities: []string{"EMAIL_ADDRESS"}}, "https://x.example.com/?mail=[EMAIL_ADDRESS:a@example.com]&x=1"},
		"high threshold":      {pii.Settings{Threshold: new(uint32(950))}, "[EMAIL_ADDRESS:a@example.com] at 192.168.0.1 or (415) 555-0132"},
		"low threshold":       {pii.Settings{Threshold: new(uint32(100)), Entities: []string{"UK_NHS"}}, "The number [UK_NHS:4940048683]"},
		"context":             {pii.Settings{Threshold: new(uint32(950))}, "ring my phone: [PHONE_NUMBER:(415) 555-0132]"},
		"glued context":       {pii.Settings{}, `{"customerPhone": "[PHONE_NUMBER:4155550132]", "bank_account": "[US_BANK_NUMBER:8812345678]"}`},
		"allow list":          {pii.Settings{AllowList: []string{"Support@Example.com", "10.0.0.1"}}, "support@example.com [EMAIL_ADDRESS:a@example.com] 10.0.0.1 [IP_ADDRESS:10.0.0.2]"},
		"allowed in its form": {pii.Settings{AllowList: []string{"4111111111111111"}}, "４１１１１１１１１１１１１１１１ [CREDIT_CARD:5555555555554444]"},
		"regions":             {pii.Settings{Regions: []string{"DE", "FR"}}, "[PHONE_NUMBER:030 901820], [PHONE_NUMBER:01 70 18 02 11], (415) 555-0132"},
		"region without 0":    {pii.Settings{Regions: []string{"ES"}}, "[PHONE_NUMBER:612 345 678]"},
		"recognizer":          {pii.Settings{Recognizers: []pii.Recognizer{{Entity: "STAFF", Pattern: `\bEMP-[0-9]{4,6}\b`}}}, "emp [STAFF:EMP-123456], [STAFF:emp-1234], EMP-123, XEMP-1234"},
		"its context": {
			pii.Settings{Recognizers: []pii.Recognizer{{Entity: "STAFF", Pattern: `[0-9]{5}`, Context: []string{"Employee", "staff member"}, Score: new(uint32(200))}}},
			"employee [STAFF:12345]; that is all that we know about it here 12345 today, and members [STAFF:54321]",
		},
		"always looked for":   {pii.Settings{Entities: []string{"URL"}, Recognizers: []pii.Recognizer{{Entity: "STAFF", Pattern: `EMP-\d+`}}}, "[STAFF:EMP-1] a@example.com"},
		"longest":             {pii.Settings{Recognizers: []pii.Recognizer{{Entity: "A", Pattern: `foo|foobar`}}}, "[A:foobar] [A:foo]"},
		"longer than others":  {pii.Settings{Recognizers: []pii.Recognizer{{Entity: "LINE", Pattern: `^.*secret$`}}}, "[LINE:a@example.com is my secret]"},
		"the rest is masked":  {pii.Settings{Recognizers: []pii.Recognizer{{Entity: "TAIL", Pattern: `com and`}}}, "[EMAIL_ADDRESS:a@example.com][TAIL: and] b"},
		"names":               {pii.Settings{Names: names}, "[PERSON:Ada] lives in [LOCATION:Paris], mail [EMAIL_ADDRESS:ada@example.com] now"},
		"names are shorter":   {pii.Settings{Names: names}, "[PERSON:Ada] reads [URL:https://ada.example.com/Paris?x] twice"},
		"some names":          {pii.Settings{Names: names, Entities: []string{"PERSON"}}, "[PERSON:Ada] lives in Paris, mail [PERSON:ada@example.com] now"},
		"no names":            {pii.Settings{Names: names, Entities: []string{"URL"}}, "Ada lives in Paris"},
		"names are allowed":   {pii.Settings{Names: names, AllowList: []string{"ada"}}, "Ada lives in [LOCATION:Paris] now"},
		"names and threshold": {pii.Settings{Names: names, Threshold: new(uint32(900))}, "Ada lives in Paris now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, tc.settings)
			text, _ := unmark(tc.want)
			if got := enginetest.Marked(text, enginetest.Whole(t, e, text)); got != tc.want {
				t.Errorf("found\n%s\nwant\n%s", got, tc.want)
			}
			enginetest.CutAnywhere(t, e, []string{text, strings.Repeat(text+" ", 5)})
		})
	}
}

// TestBadSettings: what cannot be is refused with the name of the setting.
func TestBadSettings(t *testing.T) {
	t.Parallel()
	for want, settings := range map[string]pii.Settings{
		"entities":       {Entities: []string{"URL", "NRP"}},
		"entities: P":    {Entities: []string{"PERSON"}},
		"regions":        {Regions: []string{"XX"}},
		"recognizers[1]": {Recognizers: []pii.Recognizer{{Entity: "A", Pattern: "a"}, {Entity: "B", Pattern: "("}}},
	} {
		if _, err := pii.New(settings); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want an error of %s", err, want)
		}
	}
}

// TestScannersAreApart: a scanner reads one text after the other, and one of a response does not disturb it.
func TestScannersAreApart(t *testing.T) {
	t.Parallel()
	e := newEngine(t, pii.Settings{Names: words{"Ada": "PERSON"}})
	s := e.Scanner()
	first := enginetest.NewStream(t, s)
	first.Push("https://example.com/"+strings.Repeat("x", 400), false)
	second := enginetest.NewStream(t, s.Fork())
	second.Push("yz Ada and a@example.com", true)
	if got := enginetest.Marked("yz Ada and a@example.com", second.Found()); got != "yz [PERSON:Ada] and [EMAIL_ADDRESS:a@example.com]" {
		t.Error(got)
	}
	s.Reset()
	third := enginetest.NewStream(t, s)
	third.Push("yz Ada", true)
	if got := enginetest.Marked("yz Ada", third.Found()); got != "yz [PERSON:Ada]" {
		t.Errorf("the text before is remembered: %s", got)
	}
}
