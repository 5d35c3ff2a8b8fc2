package googlecaller

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// answer is a GenerateContentResponse: a whole response, or an event of a stream. The usage stands first, as only the
// last event of a stream has it: what Envoy does with a stream that its provider resets tells the last event by its beginning.
type answer struct {
	Usage      *answerUsage      `json:"usageMetadata,omitzero"`
	Candidates []answerCandidate `json:"candidates"`
	Model      string            `json:"modelVersion"`
	ID         string            `json:"responseId,omitzero"`
}

type answerCandidate struct {
	Content   answerContent    `json:"content"`
	Finish    string           `json:"finishReason,omitzero"`
	Index     int              `json:"index"`
	Grounding *answerGrounding `json:"groundingMetadata,omitzero"`
	Logprobs  *answerLogprobs  `json:"logprobsResult,omitzero"`
}

type answerContent struct {
	Parts []answerPart `json:"parts"`
	Role  string       `json:"role"` // always model
}

// answerPart is a part of any kind. A text may be empty but must be there.
type answerPart struct {
	Text      *string       `json:"text,omitzero"`
	Thought   bool          `json:"thought,omitzero"`
	Inline    *blob         `json:"inlineData,omitzero"`
	Call      *functionCall `json:"functionCall,omitzero"`
	Signature string        `json:"thoughtSignature,omitzero"`
}

type blob struct {
	MimeType string `json:"mimeType"`
	Data     string `json:"data"`
}

type functionCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

type answerGrounding struct {
	Chunks   []answerSource   `json:"groundingChunks"`
	Supports []answerSupports `json:"groundingSupports"`
}

type answerSource struct {
	Web answerSite `json:"web"`
}

type answerSite struct {
	URI   string `json:"uri"`
	Title string `json:"title,omitzero"`
}

type answerSupports struct {
	Segment answerSegment `json:"segment"`
	Chunks  []int         `json:"groundingChunkIndices"`
}

// answerSegment is a part of the text, in bytes.
type answerSegment struct {
	Start int    `json:"startIndex,omitzero"`
	End   int    `json:"endIndex"`
	Text  string `json:"text"`
}

// answerOf converts a response.
func answerOf(r *wire.Response, m dialect.Meta) *answer {
	out := &answer{Candidates: []answerCandidate{}, Usage: usageOf(&r.Usage), Model: m.Model, ID: r.ID}
	if m.ID != "" {
		out.ID = m.ID
	}
	for i := range r.Choices {
		c := &r.Choices[i]
		one := answerCandidate{
			Content: answerContent{Parts: partsOf(c), Role: roleModel}, Finish: finishOf(c.Finish, c.Refusal != ""), Index: c.Index,
			Grounding: groundingOf(c.Text, c.Annotations), Logprobs: logprobsOf(c.Logprobs),
		}
		out.Candidates = append(out.Candidates, one)
	}
	return out
}

// partsOf returns the parts of a choice in the order in which models write them: the reasoning, the
// text, the calls.
func partsOf(c *wire.Choice) []answerPart {
	out := []answerPart{}
	for i := range c.Thinking {
		if text := c.Thinking[i].Text; text != "" {
			out = append(out, answerPart{Text: &text, Thought: true})
		}
	}
	if text := c.Text + c.Refusal; text != "" {
		out = append(out, answerPart{Text: &text})
	}
	if sound := soundOf(c.Audio); sound != nil {
		out = append(out, answerPart{Inline: sound})
	}
	for i := range c.ToolCalls {
		t := &c.ToolCalls[i]
		out = append(out, callOf(t.ID, t.Name, t.Arguments))
	}
	if len(out) == 0 {
		out = append(out, answerPart{Text: new(string)}) // libraries take a content without parts for none
	}
	return out
}

// callOf writes a call. Arguments that are no object stand in one, so that the caller sees what the model wrote.
func callOf(id, name, arguments string) answerPart {
	short, signature := signatureOf(id)
	args := jsontext.Value(strings.TrimSpace(arguments))
	switch {
	case len(args) == 0:
		args = jsontext.Value("{}")
	case !args.IsValid() || args.Kind() != '{':
		args, _ = json.Marshal(map[string]string{"INVALID_JSON": arguments}, jsontext.AllowInvalidUTF8(true)) // texts alone cannot fail
	}
	return answerPart{Call: &functionCall{ID: short, Name: name, Args: args}, Signature: signature}
}

// finishOf names the reason for the end.
func finishOf(f wire.Finish, refused bool) string {
	switch {
	case f == wire.FinishFilter || refused:
		return "SAFETY"
	case f == wire.FinishLength:
		return "MAX_TOKENS"
	}
	return "STOP"
}

// soundOf converts OpenAI's audio object, or a piece of it; nil if there is no data.
func soundOf(raw jsontext.Value) *blob {
	if raw == nil {
		return nil
	}
	var in struct {
		Data string `json:"data"`
	}
	if json.Unmarshal(raw, &in, json.RejectUnknownMembers(false)) != nil || in.Data == "" {
		return nil
	}
	return &blob{MimeType: "audio/L16;codec=pcm;rate=24000", Data: in.Data}
}

// groundingOf writes the sources of a text; nil for none.
func groundingOf(text string, sources []wire.Annotation) *answerGrounding {
	out := &answerGrounding{Chunks: []answerSource{}, Supports: []answerSupports{}}
	for i := range sources {
		s := &sources[i]
		if s.URL == "" {
			continue
		}
		start, end := byteOffset(text, s.Start), byteOffset(text, s.End)
		out.Supports = append(out.Supports, answerSupports{
			Segment: answerSegment{start, max(start, end), text[start:max(start, end)]}, Chunks: []int{out.source(s)},
		})
	}
	if len(out.Supports) == 0 {
		return nil
	}
	return out
}

// source returns the index of a source, which may be a new one.
func (g *answerGrounding) source(s *wire.Annotation) int {
	for i := range g.Chunks {
		if g.Chunks[i].Web.URI == s.URL {
			return i
		}
	}
	g.Chunks = append(g.Chunks, answerSource{answerSite{s.URL, s.Title}})
	return len(g.Chunks) - 1
}

// byteOffset returns where in a text its n-th character begins.
func byteOffset(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// answerUsage is usageMetadata. Its count of the prompt includes what was read from the cache, and its count of
// the candidates excludes the thoughts.
type answerUsage struct {
	Prompt     int64            `json:"promptTokenCount"`
	Cached     int64            `json:"cachedContentTokenCount,omitzero"`
	Candidates int64            `json:"candidatesTokenCount"`
	Thoughts   int64            `json:"thoughtsTokenCount,omitzero"`
	Total      int64            `json:"totalTokenCount"`
	In         []answerModality `json:"promptTokensDetails,omitzero"`
	Out        []answerModality `json:"candidatesTokensDetails,omitzero"`
}

type answerModality struct {
	Modality string `json:"modality"`
	Tokens   int64  `json:"tokenCount"`
}

// usageOf converts usage; nil if it is not known.
func usageOf(u *wire.Usage) *answerUsage {
	if u == nil || !u.Known() && !u.Partial {
		return nil
	}
	t := u.Tokens
	out := &answerUsage{
		Prompt: t.Input, Cached: t.CacheRead, Candidates: max(t.Output-t.Reasoning, 0), Thoughts: t.Reasoning, Total: t.Input + t.Output,
		In:  modalities(t.Input, t.InputAudio, t.InputImage),
		Out: modalities(max(t.Output-t.Reasoning, 0), t.OutputAudio, t.OutputImage),
	}
	return out
}

// modalities divides tokens by what they are of.
func modalities(all, sound, pictures int64) []answerModality {
	var out []answerModality
	for _, one := range [...]answerModality{{"TEXT", max(all-sound-pictures, 0)}, {"AUDIO", sound}, {"IMAGE", pictures}} {
		if one.Tokens > 0 {
			out = append(out, one)
		}
	}
	return out
}

// answerLogprobs is logprobsResult.
type answerLogprobs struct {
	Top    []answerTop     `json:"topCandidates"`
	Chosen []answerLogprob `json:"chosenCandidates"`
}

type answerTop struct {
	Candidates []answerLogprob `json:"candidates"`
}

type answerLogprob struct {
	Token string  `json:"token"`
	Log   float64 `json:"logProbability"`
}

// logprobsOf converts OpenAI's logprobs object; nil if there is none.
func logprobsOf(raw jsontext.Value) *answerLogprobs {
	var in struct {
		Content []struct {
			answerOpenAILogprob
			Top []answerOpenAILogprob `json:"top_logprobs"`
		} `json:"content"`
	}
	if raw == nil || json.Unmarshal(raw, &in, jsontext.AllowInvalidUTF8(true)) != nil || len(in.Content) == 0 {
		return nil
	}
	out := &answerLogprobs{Top: []answerTop{}}
	for i := range in.Content {
		c := &in.Content[i]
		out.Chosen = append(out.Chosen, answerLogprob{c.Token, c.Log})
		top := answerTop{Candidates: []answerLogprob{}}
		for _, one := range c.Top {
			top.Candidates = append(top.Candidates, answerLogprob(one))
		}
		out.Top = append(out.Top, top)
	}
	return out
}

// answerOpenAILogprob is a token with its probability, as the canonical form has it.
type answerOpenAILogprob struct {
	Token string  `json:"token"`
	Log   float64 `json:"logprob"`
}
