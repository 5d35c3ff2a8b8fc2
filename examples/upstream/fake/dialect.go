package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/modelgateway/modelgateway/examples/upstream/fake/bedrock"
)

// dialect is how one family of providers speaks.
type dialect struct {
	// answer is nil where the path is no endpoint.
	answer func(*Server, *exchange)
	// fail answers with an error.
	fail func(http.ResponseWriter, failure)
	// failEvent is an error as an event of a stream.
	failEvent func(failure) event
	// frames says that streams are AWS's binary events.
	frames bool
}

// failure is an error answer.
type failure struct {
	status  int
	code    string // OpenAI's code; "" takes the status's own
	param   string
	message string
}

func dialectOf(path string) dialect {
	if d := specialDialect(path); d.answer != nil {
		return d
	}
	switch {
	case geminiModel(path) != "" && strings.HasSuffix(path, ":batchEmbedContents"):
		return dialect{answer: (*Server).embedContents, fail: failGemini, failEvent: failEventGemini}
	case geminiModel(path) != "":
		return dialect{answer: (*Server).generate, fail: failGemini, failEvent: failEventGemini}
	case strings.HasPrefix(path, "/mistral/") && strings.HasSuffix(path, "/chat/completions"):
		return dialect{answer: (*Server).mistralChat, fail: failMistral, failEvent: failEventMistral}
	case strings.HasSuffix(path, "/v2/chat"):
		return dialect{answer: (*Server).cohereChat, fail: failCohere, failEvent: failEventCohere}
	case strings.HasSuffix(path, "/chat/completions"):
		return dialect{answer: (*Server).chatCompletion, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/messages"):
		return dialect{answer: (*Server).message, fail: failAnthropic, failEvent: failEventAnthropic}
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return dialect{answer: (*Server).countMessage, fail: failAnthropic, failEvent: failEventAnthropic}
	case strings.HasSuffix(path, "/responses"):
		return dialect{answer: (*Server).respond, fail: failOpenAI, failEvent: failEventResponses}
	case strings.HasSuffix(path, "/responses/input_tokens"):
		return dialect{answer: (*Server).countInput, fail: failOpenAI, failEvent: failEventResponses}
	case strings.HasSuffix(path, "/completions"):
		return dialect{answer: (*Server).complete, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/embeddings"):
		return dialect{answer: (*Server).embed, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/rerank"):
		return dialect{answer: (*Server).rank, fail: failCohere, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/audio/speech"):
		return dialect{answer: (*Server).speak, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/audio/transcriptions"), strings.HasSuffix(path, "/audio/translations"):
		return dialect{answer: (*Server).transcribe, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/images/generations"):
		return dialect{answer: (*Server).makeImage, fail: failOpenAI, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/images/edits"):
		return dialect{answer: (*Server).editImage, fail: failOpenAI, failEvent: failEventOpenAI}
	}
	return dialect{fail: failOpenAI, failEvent: failEventOpenAI}
}

// specialDialect is the dialect of the providers without chats; it has no answer where the path is none of theirs.
func specialDialect(path string) dialect {
	switch {
	case bedrockModel(path) != "":
		return bedrockDialect(path)
	case strings.HasPrefix(path, "/voyage/") && strings.HasSuffix(path, "/embeddings"):
		return dialect{answer: (*Server).embedVoyage, fail: failDetail, failEvent: failEventOpenAI}
	case strings.HasPrefix(path, "/voyage/") && strings.HasSuffix(path, "/rerank"):
		return dialect{answer: (*Server).rankVoyage, fail: failDetail, failEvent: failEventOpenAI}
	case strings.HasPrefix(path, "/jina/") && strings.HasSuffix(path, "/embeddings"):
		return dialect{answer: (*Server).embedJina, fail: failDetail, failEvent: failEventOpenAI}
	case strings.HasPrefix(path, "/jina/") && strings.HasSuffix(path, "/rerank"):
		return dialect{answer: (*Server).rankJina, fail: failDetail, failEvent: failEventOpenAI}
	case elevenVoice(path) != "":
		return dialect{answer: (*Server).speakEleven, fail: failEleven, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/v1/speech-to-text"):
		return dialect{answer: (*Server).transcribeEleven, fail: failEleven, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/v1/speak"):
		return dialect{answer: (*Server).speakDeepgram, fail: failDeepgram, failEvent: failEventOpenAI}
	case strings.HasSuffix(path, "/v1/listen"):
		return dialect{answer: (*Server).transcribeDeepgram, fail: failDeepgram, failEvent: failEventOpenAI}
	}
	return dialect{}
}

const page = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body><h1>Something broke</h1></body></html>\n"

// meet does what the plan has in store before an honest answer, and says whether
// the answer is still wanted.
func (s *Server) meet(x *exchange, p plan) bool {
	if !s.wait(x, p.delay) {
		return false
	}
	if p.failFirst > 0 {
		if x.nth > p.failFirst {
			p.status = 0
		} else if p.status == 0 {
			p.status = http.StatusInternalServerError
		}
	}
	status := max(p.status, http.StatusOK)
	switch {
	case p.hang:
		s.hang(x)
	case p.reset:
		breakConnection(x.w)
	case p.body == "html":
		x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		x.w.WriteHeader(status)
		fmt.Fprint(x.w, page)
	case p.body == "empty":
		x.w.WriteHeader(status)
	case p.status != 0:
		for name, value := range p.header {
			x.w.Header().Set(name, value)
		}
		message := p.message
		if message == "" {
			message = "The fake provider was asked to fail."
		}
		x.dialect.fail(x.w, failure{status: p.status, code: p.code, message: message})
	default:
		return true
	}
	return false
}

// breakConnection ends the connection without an answer; the kernel sends a
// reset rather than an orderly end, as a crashed provider's would.
func breakConnection(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2: the stream is reset
	}
	if tcp, ok := conn.(interface{ SetLinger(sec int) error }); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// whole sends an answer that is not streamed.
func (*Server) whole(x *exchange, p plan, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		x.dialect.fail(x.w, failure{status: http.StatusInternalServerError, message: err.Error()})
		return
	}
	x.w.Header().Set("Content-Type", "application/json")
	switch {
	case p.cutAfter != never:
		x.w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		_, _ = x.w.Write(body[:len(body)/2])
		_ = http.NewResponseController(x.w).Flush()
		panic(http.ErrAbortHandler)
	case p.body == "garbage":
		_, _ = x.w.Write(body[:len(body)/2])
	default:
		_, _ = x.w.Write(body)
	}
}

// event is one server-sent event.
type event struct {
	name string // "" for OpenAI's, which have none
	data string
	last bool // closes the stream: [DONE], message_stop
}

func jsonEvent(name string, doc any) event {
	data, err := json.Marshal(doc)
	if err != nil {
		return event{name: name, data: "{}"}
	}
	return event{name: name, data: string(data)}
}

// stream sends events as the plan has it.
func (s *Server) stream(x *exchange, p plan, events []event) {
	x.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	if x.dialect.frames {
		x.w.Header().Set("Content-Type", bedrock.Media)
	}
	x.w.Header().Set("Cache-Control", "no-cache")
	x.w.WriteHeader(http.StatusOK)
	for i, e := range events {
		switch {
		case i == p.cutAfter:
			panic(http.ErrAbortHandler)
		case i == p.stallAfter:
			s.hang(x)
			return
		case i+1 == p.errorAt:
			e = x.dialect.failEvent(failure{status: http.StatusInternalServerError, message: "The fake provider was asked to fail in mid-stream."})
		case i == 1 && p.body == "garbage":
			e.data = e.data[:len(e.data)/2]
		case e.last && p.noDone:
			return
		}
		if i > 0 && !s.wait(x, p.pace) {
			return
		}
		if !send(x.w, x.dialect.text(e), p.framing) || i+1 == p.errorAt {
			return
		}
	}
	if p.cutAfter != never {
		panic(http.ErrAbortHandler)
	}
}

// text is an event as the dialect's streams have it.
func (d *dialect) text(e event) string {
	switch {
	case d.frames:
		return bedrock.Frame(e.name, e.data)
	case e.name != "":
		return "event: " + e.name + "\ndata: " + e.data + "\n\n"
	}
	return "data: " + e.data + "\n\n"
}

// send writes one event and says whether the connection still stands. A frame has no lines, so only the pieces of its
// sending can be odd.
func send(w http.ResponseWriter, text, framing string) bool {
	piece := len(text)
	if !strings.HasSuffix(text, "\n\n") && framing != "dribble" {
		framing = ""
	}
	switch framing {
	case "crlf":
		text = strings.ReplaceAll(text, "\n", "\r\n")
		piece = len(text)
	case "comments":
		text = ": keep-alive\n\n" + text
		piece = len(text)
	case "dribble":
		piece = 7
	}
	flush := http.NewResponseController(w).Flush
	for len(text) > 0 {
		n := min(piece, len(text))
		if _, err := w.Write([]byte(text[:n])); err != nil {
			return false
		}
		if flush() != nil {
			return false
		}
		text = text[n:]
	}
	return true
}

func writeJSON(w http.ResponseWriter, status int, doc any) {
	body, err := json.Marshal(doc)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// created is when every answer says it was made: the same for all, so that the
// same request gets the same bytes.
func created() int64 { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC).Unix() }

// listModels lists one example of each behaviour, and two plain names.
func listModels(w http.ResponseWriter) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := []model{{"fake-gpt", "model", created(), "fake"}, {"fake-claude", "model", created(), "fake"}}
	for _, b := range behaviours() {
		list = append(list, model{b.example, "model", created(), "fake"})
	}
	writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": list})
}
