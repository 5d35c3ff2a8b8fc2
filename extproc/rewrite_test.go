package extproc

import (
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/catalog"
	"github.com/modelgateway/modelgateway/cluster/guardrails"
	"github.com/modelgateway/modelgateway/cluster/journal"
	"github.com/modelgateway/modelgateway/cluster/usage"
)

// at is a deployment of a provider, with prices.
func at(provider, model string, prices map[string]string) catalog.DeploymentSpec {
	d := place(provider, "fast", "", 0)
	d.Model, d.APIBase, d.Prices = provider+"/"+model, "https://"+provider+".example", prices
	return d
}

func deployed(list ...catalog.DeploymentSpec) catalog.Spec {
	return catalog.Spec{Deployments: list, Router: quick(0)}
}

// Transcriptions of two providers, as they send them.
const (
	scribed = `{"language_code":"eng","text":"Hello there.","words":[{"text":"Hello","start":0.5,"end":1,"type":"word","logprob":0},` +
		`{"text":" ","start":1,"end":1.5,"type":"spacing","logprob":0},{"text":"there.","start":1.5,"end":2,"type":"word","logprob":0}],"audio_duration_secs":2.75}`
	listenedTo = `{"metadata":{"duration":2.75},"results":{"channels":[{"alternatives":[{"transcript":"Hello there.",` +
		`"words":[{"word":"hello","punctuated_word":"Hello","start":0.5,"end":1,"confidence":1},{"word":"there","punctuated_word":"there.","start":1.5,"end":2,"confidence":1}]}]}]}}`
)

// A transcription of a provider with a language of its own comes in the form that the caller requests, as events too, and costs
// what the provider reports, or what the sound is long.
func TestRewrittenTranscriptions(t *testing.T) {
	t.Parallel()
	const subtitles = "1\n00:00:00,500 --> 00:00:02,000\nHello there.\n\n"
	for _, test := range []struct {
		name, field, reply string
		media, body        string
		tokens             usage.Tokens
		source             usage.Source
		cost               string
	}{
		{"JSON", "response_format=json", "", "application/json", `{"text":"Hello there.","usage":{"type":"duration","seconds":2.75}}`, usage.Tokens{InputMillis: 2750}, usage.Provider, "0.000275"},
		{"text", "response_format=text", "", "text/plain; charset=utf-8", "Hello there.\n", usage.Tokens{InputMillis: 2750}, usage.Provider, "0.000275"},
		{"subtitles", "response_format=srt", "", "text/plain; charset=utf-8", subtitles, usage.Tokens{InputMillis: 2750}, usage.Provider, "0.000275"},
		{
			"events", "stream=true", "", "text/event-stream; charset=utf-8",
			"data: {\"type\":\"transcript.text.delta\",\"delta\":\"Hello there.\"}\n\n" +
				"data: {\"type\":\"transcript.text.done\",\"text\":\"Hello there.\"}\n\n",
			usage.Tokens{InputMillis: 2750},
			usage.Provider, "0.000275",
		},
		{"measured", "response_format=text", "2.75", "text/plain; charset=utf-8", "Hello there.\n", usage.Tokens{InputMillis: 2500}, usage.Measured, "0.00025"},
		{"a year", "response_format=text", "31000000", "text/plain; charset=utf-8", "Hello there.\n", usage.Tokens{InputMillis: 2500}, usage.Measured, "0.00025"},
		{"a day", "response_format=text", "86400", "text/plain; charset=utf-8", "Hello there.\n", usage.Tokens{InputMillis: 65_000}, usage.Provider, "0.0065"},
	} {
		for provider, c := range map[string]struct{ model, whole, path, sent string }{
			"elevenlabs": {"scribe_v1", scribed, "/v1/speech-to-text", form("file", wav(2500), "model_id=scribe_v1", "language_code=en")},
			"deepgram":   {"nova-3", listenedTo, "/v1/listen?model=nova-3&punctuate=true&language=en", wav(2500)},
		} {
			t.Run(provider+" "+test.name, func(t *testing.T) {
				t.Parallel()
				k := newKit(t, deployed(at(provider, c.model, bySecond())))
				e := k.open(t)
				out := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(2500), "model=fast", "language=en", "tags[]=blue", test.field))
				if out.refused != nil || out.headers[":path"] != c.path || out.body != c.sent || out.headers["content-length"] != itoa(len(c.sent)) {
					t.Fatalf("sent %+v %v %.400q", out.refused, out.headers, out.body)
				}
				if want := map[string]string{"elevenlabs": formType, "deepgram": "application/octet-stream"}[provider]; out.headers["content-type"] != want {
					t.Errorf("sent as %s", out.headers["content-type"])
				}
				reply := c.whole
				if test.reply == "2.75" {
					reply = strings.NewReplacer(`,"audio_duration_secs":2.75`, "", `"duration":2.75`, "").Replace(reply)
				} else if test.reply != "" {
					reply = strings.Replace(reply, "2.75", test.reply, 1)
				}
				a := e.answer(jsonAnswer(reply))
				if a.status != 200 || a.body != test.body || a.headers["content-type"] != test.media || a.headers["x-gateway-response-cost"] != test.cost {
					t.Errorf("the caller gets %d %v %q", a.status, a.headers, a.body)
				}
				if ev := k.event(e.uuid); ev.Tokens != test.tokens || ev.Source != test.source || ev.Outcome != journal.Success || ev.UsageCapped != strings.HasPrefix(test.name, "a ") {
					t.Errorf("recorded %+v %v %v, capped: %v", ev.Tokens, ev.Source, ev.Outcome, ev.UsageCapped)
				}
				k.settled()
			})
		}
	}
}

// What is no transcription is the provider's failure, also as events, which the provider does not send.
func TestRewrittenTranscriptionsThatAreNone(t *testing.T) {
	t.Parallel()
	for provider, model := range map[string]string{"elevenlabs": "scribe_v1", "deepgram": "nova-3"} {
		k := newKit(t, deployed(at(provider, model, bySecond())))
		for _, c := range []came{jsonAnswer(`{}`), jsonAnswer(`[]`), jsonAnswer(`{"text":`), streamAnswer(), {status: 200, headers: []string{"content-type", "text/html"}, pieces: []string{"<html>"}}} {
			e := k.open(t)
			e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(10), "model=fast", "stream=true"))
			if a := e.answer(c); a.status != 502 || !strings.Contains(a.body, "upstream_invalid_response") {
				t.Errorf("%s %v: the caller gets %d %s", provider, c, a.status, a.body)
			}
		}
		k.settled()
	}
}

// Guardrails examine the text of a transcription before events are made of it.
func TestGuardrailsExamineRewrittenTranscriptions(t *testing.T) {
	t.Parallel()
	for provider, reply := range map[string]string{"elevenlabs/scribe_v1": scribed, "deepgram/nova-3": listenedTo} {
		name, model, _ := strings.Cut(provider, "/")
		k := newKit(t, deployed(at(name, model, bySecond())), withGuardrails(t, map[string]guardrails.Guardrail{"polite": greeting("", guardrails.PostCall)}))
		for _, stream := range []string{"stream=true", "stream=false"} {
			e := k.open(t)
			e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(2500), "model=fast", "guardrail_id=polite", stream))
			a := e.answer(jsonAnswer(strings.ReplaceAll(reply, "there.", "Hi there.")))
			if a.status != 200 || strings.Contains(a.body, "Hi there") || !strings.Contains(a.body, "[GREETING]") {
				t.Errorf("%s %s: the caller gets %d %s", provider, stream, a.status, a.body)
			}
		}
		k.settled()
	}
}

// Speech goes out as it comes, of whatever type, and costs the characters that the provider reports to bill.
func TestRewrittenSpeech(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		headers []string
		prices  map[string]string
		tokens  usage.Tokens
		source  usage.Source
		capped  bool
	}{
		{"reported", []string{"character-cost", "3"}, byCharacter(), usage.Tokens{InputCharacters: 3}, usage.Provider, false},
		{"reported by another name", []string{"dg-char-count", "7"}, byCharacter(), usage.Tokens{InputCharacters: 7}, usage.Provider, false},
		{"nothing to bill", []string{"character-cost", "0"}, byCharacter(), usage.Tokens{}, usage.Provider, false},
		{"without a price", []string{"character-cost", "3"}, nil, usage.Tokens{InputCharacters: 3}, usage.Provider, false},
		{"measured", nil, byCharacter(), usage.Tokens{InputCharacters: 6}, usage.Measured, false},
		{"nonsense", []string{"character-cost", "-3"}, byCharacter(), usage.Tokens{InputCharacters: 6}, usage.Measured, true},
		{"too many", []string{"character-cost", "99999"}, byCharacter(), usage.Tokens{InputCharacters: 60}, usage.Provider, true},
		{"sold by the second", []string{"character-cost", "3"}, map[string]string{"output_cost_per_second": "0.001"}, usage.Tokens{InputCharacters: 6, OutputMillis: 500}, usage.Estimated, false},
	} {
		for provider, c := range map[string]struct{ model, path, body string }{
			"elevenlabs": {"eleven_new", "/v1/text-to-speech/a%20voice?output_format=mp3_44100_128", `{"text":"Gr` + "\u00fc" + `\u00dfe!","model_id":"eleven_new"}`},
			"deepgram":   {"aura-2-thalia-en", "/v1/speak?model=aura-2-thalia-en&encoding=mp3", `{"text":"Gr` + "\u00fc" + `\u00dfe!"}`},
		} {
			t.Run(provider+" "+test.name, func(t *testing.T) {
				t.Parallel()
				d := at(provider, c.model, test.prices)
				d.DropParams = true // of Deepgram's voice
				k := newKit(t, deployed(d))
				e := k.open(t)
				out := e.request(to(e, "/v1/audio/speech"), `{"model":"fast","input":"Gr`+"\u00fc"+`\u00dfe!","voice":"a voice"}`)
				if out.refused != nil || out.headers[":path"] != c.path || out.body != c.body || out.headers["content-type"] != "application/json" {
					t.Fatalf("sent %+v %v %s", out.refused, out.headers, out.body)
				}
				reply := came{status: 200, headers: append([]string{"content-type", "audio/mpeg", "content-length", "9"}, test.headers...)}
				e.head(reply)
				a := e.begun(reply)
				if _, length := a.headers["content-length"]; a.status != 200 || a.headers["content-type"] != "audio/mpeg" || length || a.headers["character-cost"] != "" {
					t.Errorf("the caller gets %d %v", a.status, a.headers)
				}
				for _, piece := range []string{"\xff\xfb\x90\x00", "data: {", "\n\n"} {
					e.piece(piece)
					if got := e.out(piece); got != piece {
						t.Errorf("the caller gets %q", got)
					}
				}
				e.piece("", last)
				e.out("")
				e.close()
				if ev := k.event(e.uuid); ev.Tokens != test.tokens || ev.Source != test.source || ev.UsageCapped != test.capped || ev.FirstToken.IsZero() {
					t.Errorf("recorded %+v %v, capped: %v", ev.Tokens, ev.Source, ev.UsageCapped)
				}
				k.settled()
			})
		}
	}
}

// A provider that answers with events or text instead of sound has failed, before anything goes out.
func TestRewrittenSpeechThatIsNone(t *testing.T) {
	t.Parallel()
	k := newKit(t, deployed(at("elevenlabs", "eleven_new", byCharacter())))
	for _, media := range []string{"text/event-stream", "application/json", "text/html"} {
		e := k.open(t)
		e.request(to(e, "/v1/audio/speech"), `{"model":"fast","input":"Hello","voice":"x"}`)
		if a := e.answer(came{status: 200, headers: []string{"content-type", media}, pieces: []string{"x"}}); a.status != 502 || !strings.Contains(a.body, "upstream_invalid_response") {
			t.Errorf("%s: the caller gets %d %s", media, a.status, a.body)
		}
	}
	k.settled()
}

// A request that fails at one provider goes on to others in their forms: the file alone, a form, and a form with
// other names, each with its own credential and no other.
func TestRewrittenFallbacks(t *testing.T) {
	t.Parallel()
	r := quick(0)
	r.Fallbacks = []map[string][]string{{"fast": {"second", "third", "fourth"}}}
	second, third, fourth := at("elevenlabs", "scribe_v1", bySecond()), place("openai", "third", "whisper-1", 0), at("deepgram", "nova-2", bySecond())
	second.ModelName, fourth.ModelName, fourth.ID = "second", "fourth", "deepgram-2"
	k := newKit(t, catalog.Spec{Deployments: []catalog.DeploymentSpec{at("deepgram", "nova-3", bySecond()), second, third, fourth}, Router: r})
	e := k.open(t)
	out := e.request(toForm(e, "/v1/audio/transcriptions"), form("file", wav(300), "model=fast", "language=en"))
	if out.refused != nil || out.body != wav(300) || out.headers["authorization"] != "Token key-of-deepgram" {
		t.Fatalf("attempt 1: %+v %v", out.refused, out.headers)
	}
	for i, want := range []struct{ path, media, body, credential, key string }{
		{"/v1/speech-to-text", formType, form("file", wav(300), "model_id=scribe_v1", "language_code=en"), "xi-api-key", "key-of-elevenlabs"},
		{"/v1/audio/transcriptions", formType, form("file", wav(300), "model=whisper-1", "language=en"), "authorization", "Bearer key-of-openai"},
		{"/v1/listen?model=nova-2&punctuate=true&language=en", "application/octet-stream", wav(300), "authorization", "Token key-of-deepgram"},
	} {
		k.attempt(e.uuid, i+1, 500, nil)
		u := k.openAs(t, e.uuid, "rewrite")
		got := u.upstreamHead(i+2, plainHeaders(e.uuid, "xi-api-key", "left", "authorization", "left"))
		u.wait()
		u.cancel()
		if got == nil || got.headers[":path"] != want.path || got.headers["content-type"] != want.media || got.body != want.body || got.headers[want.credential] != want.key {
			t.Fatalf("attempt %d: %+v", i+2, got)
		}
		for _, name := range []string{"authorization", "xi-api-key"} {
			if value := got.headers[name]; name != want.credential && value != "" {
				t.Errorf("attempt %d has the credential %s: %s", i+2, name, value)
			}
		}
	}
	e.quit()
}

// Rankings and embeddings come back in the form that callers expect, and cost what the provider reports, or else a count.
func TestRewrittenListsOfResults(t *testing.T) {
	t.Parallel()
	const (
		embed  = `{"model":"fast","input":["a","b"]`
		ask    = `{"model":"fast","query":"fox","documents":["a dog",{"text":"a fox"}],"top_n":1,"tags":["x"]}`
		ranked = `{"index":1,"relevance_score":0.9`
		wanted = `{"results":[{"index":1,"relevance_score":0.9}],"meta":{"billed_units":{"input_tokens":26},"tokens":{"input_tokens":26}}}`
	)
	vectors := func(model, more string) string {
		return `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,-1]},{"object":"embedding","index":1,"embedding":[1,2]}],"model":"` + model + `"` + more + `}`
	}
	for _, c := range []struct {
		provider, path, body, sent, reply, want string
		tokens                                  usage.Tokens
		source                                  usage.Source
	}{
		{
			"voyage/voyage-3.5", "/v1/embeddings", embed + `}`, `{"model":"voyage-3.5","input":["a","b"]}`,
			vectors("voyage-3.5", `,"usage":{"total_tokens":7}`), vectors("fast", `,"usage":{"prompt_tokens":7,"total_tokens":7}`),
			usage.Tokens{Input: 7},
			usage.Provider,
		},
		{
			"voyage/voyage-3.5", "/v1/embeddings", embed + `,"encoding_format":"float"}`, `{"model":"voyage-3.5","input":["a","b"]}`,
			vectors("voyage-3.5", ``), vectors("fast", `,"usage":{"prompt_tokens":3,"total_tokens":3}`),
			usage.Tokens{Input: 3},
			usage.Estimated,
		},
		{
			"voyage/voyage-3.5", "/v1/embeddings", embed + `}`, `{"model":"voyage-3.5","input":["a","b"]}`,
			vectors("voyage-3.5", `,"usage":{"total_tokens":-7}`), vectors("fast", `,"usage":{"prompt_tokens":3,"total_tokens":3}`),
			usage.Tokens{Input: 3},
			usage.Estimated,
		},
		{
			"jina_ai/jina-embeddings-v3", "/v1/embeddings", embed + `,"encoding_format":"base64"}`, `{"model":"jina-embeddings-v3","input":["a","b"]}`,
			vectors("jina-embeddings-v3", `,"usage":{"total_tokens":7,"prompt_tokens":7}`),
			strings.NewReplacer("[0.5,-1]", `"AAAAPwAAgL8="`, "[1,2]", `"AACAPwAAAEA="`).Replace(vectors("fast", `,"usage":{"total_tokens":7,"prompt_tokens":7}`)),
			usage.Tokens{Input: 7},
			usage.Provider,
		},
		{
			"voyage/rerank-2.5", "/v2/rerank", ask, `{"model":"rerank-2.5","query":"fox","documents":["a dog","a fox"],"top_k":1}`,
			`{"object":"list","data":[` + ranked + `}],"usage":{"total_tokens":26}}`, wanted,
			usage.Tokens{Input: 26, SearchQueries: 1},
			usage.Provider,
		},
		{
			"jina_ai/jina-reranker-v2-base-multilingual", "/v1/rerank", ask, `{"model":"jina-reranker-v2-base-multilingual","query":"fox","documents":["a dog",{"text":"a fox"}],"top_n":1}`,
			`{"results":[` + ranked + `,"document":"a fox"}],"usage":{"total_tokens":26}}`, strings.Replace(wanted, "0.9}", `0.9,"document":{"text":"a fox"}}`, 1),
			usage.Tokens{Input: 26, SearchQueries: 1},
			usage.Provider,
		},
	} {
		name, model, _ := strings.Cut(c.provider, "/")
		k := newKit(t, deployed(at(name, model, map[string]string{"input_cost_per_token": "0.000001"})))
		e := k.open(t)
		out := e.request(to(e, c.path), c.body)
		if out.refused != nil || out.body != c.sent || !strings.HasPrefix(out.headers["authorization"], "Bearer key-of-") {
			t.Fatalf("%s: sent %+v %v %s", c.provider, out.refused, out.headers, out.body)
		}
		if a := e.answer(jsonAnswer(c.reply)); a.status != 200 || a.body != c.want {
			t.Errorf("%s: the caller gets %d %s", c.provider, a.status, a.body)
		}
		if ev := k.event(e.uuid); ev.Tokens != c.tokens || ev.Source != c.source {
			t.Errorf("%s: recorded %+v %v", c.provider, ev.Tokens, ev.Source)
		}
		k.settled()
	}
}
