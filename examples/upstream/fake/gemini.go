package fake

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// contentRequest is a request for generateContent. As at Google, a member that it lacks is an error.
type contentRequest struct {
	Contents []geminiContent `json:"contents"`
	System   geminiContent   `json:"systemInstruction"`
	Tools    []struct {
		Functions []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
			JSONSchema  json.RawMessage `json:"parametersJsonSchema"`
			Response    json.RawMessage `json:"response"`
			Answer      json.RawMessage `json:"responseJsonSchema"`
		} `json:"functionDeclarations"`
		GoogleSearch json.RawMessage `json:"googleSearch"`
	} `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
		Shows bool `json:"includeServerSideToolInvocations"`
	} `json:"toolConfig"`
	Safety      json.RawMessage `json:"safetySettings"`
	Generation  geminiConfig    `json:"generationConfig"`
	ServiceTier string          `json:"serviceTier"`
	Labels      json.RawMessage `json:"labels"`

	model   string
	streams bool
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts,omitempty"`
}

type geminiPart struct {
	Text      string          `json:"text,omitempty"`
	Thought   bool            `json:"thought,omitempty"`
	Signature string          `json:"thoughtSignature,omitempty"`
	Inline    json.RawMessage `json:"inlineData,omitempty"`
	File      json.RawMessage `json:"fileData,omitempty"`
	Call      *geminiCall     `json:"functionCall,omitempty"`
	OwnCall   *geminiOwnTool  `json:"toolCall,omitempty"`
	OwnResult *geminiOwnTool  `json:"toolResponse,omitempty"`
	Response  *struct {
		ID       string                     `json:"id"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
		Parts    json.RawMessage            `json:"parts"`
	} `json:"functionResponse,omitempty"`
}

// geminiOwnTool is a call of a tool that runs at Google, or the response to one.
type geminiOwnTool struct {
	ID       string         `json:"id"`
	Type     string         `json:"toolType"`
	Args     map[string]any `json:"args,omitempty"`
	Response map[string]any `json:"response,omitempty"`
}

type geminiCall struct {
	ID   string                     `json:"id,omitempty"`
	Name string                     `json:"name"`
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

type geminiConfig struct {
	Temperature      *float64        `json:"temperature"`
	TopP             *float64        `json:"topP"`
	TopK             *int            `json:"topK"`
	CandidateCount   int             `json:"candidateCount"`
	MaxOutputTokens  int             `json:"maxOutputTokens"`
	Stop             []string        `json:"stopSequences"`
	PresencePenalty  *float64        `json:"presencePenalty"`
	FrequencyPenalty *float64        `json:"frequencyPenalty"`
	Seed             *int32          `json:"seed"`
	ResponseLogprobs bool            `json:"responseLogprobs"`
	Logprobs         *int            `json:"logprobs"`
	MimeType         string          `json:"responseMimeType"`
	Schema           json.RawMessage `json:"responseSchema"`
	JSONSchema       json.RawMessage `json:"responseJsonSchema"`
	MediaResolution  string          `json:"mediaResolution"`
	Thinking         struct {
		Include bool   `json:"includeThoughts"`
		Budget  *int   `json:"thinkingBudget"`
		Level   string `json:"thinkingLevel"`
	} `json:"thinkingConfig"`
}

// anySignature is what Google takes for the signature of a call of another model.
const anySignature = "skip_thought_signature_validator"

// geminiPath finds the model and the method in a path.
var geminiPath = regexp.MustCompile(`/models/([^/]+):(generateContent|streamGenerateContent|batchEmbedContents)$`)

// geminiModel is the model that a path of Gemini's names, "" if it names none.
func geminiModel(path string) string {
	if m := geminiPath.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
}

// signs reports whether a model signs its calls, and wants the signatures back.
func signs(model string) bool { return strings.Contains(model, "gemini-3") }

// signatureOf is what a call is signed with; it fits no other.
func signatureOf(name string, args map[string]json.RawMessage) string {
	text, err := json.Marshal(args)
	if err != nil || args == nil {
		text = []byte("{}")
	}
	return base64.StdEncoding.EncodeToString([]byte("signed " + name + " " + string(text)))
}

// generate serves POST …/models/MODEL:generateContent and :streamGenerateContent.
func (s *Server) generate(x *exchange) {
	method := geminiPath.FindStringSubmatch(x.r.URL.Path)
	q := contentRequest{model: method[1], streams: method[2] != "generateContent"}
	// Google's API takes names in snake case too, and its own libraries send some.
	// Their case does not matter.
	d := json.NewDecoder(strings.NewReader(strings.NewReplacer(`"parameters_json_schema"`, `"parametersJsonSchema"`, `"response_json_schema"`, `"responseJsonSchema"`, `"include_`, `"include`, `"thinking_`, `"thinking`).Replace(string(x.body))))
	d.DisallowUnknownFields()
	problem := ""
	if err := d.Decode(&q); err != nil {
		problem = "Invalid JSON payload received. " + err.Error()
	} else {
		problem = q.check()
	}
	if q.streams && x.r.URL.Query().Get("alt") != "sse" {
		problem = "The fake provider streams with alt=sse only."
	}
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return
	}
	p := planOf(q.model)
	p.thinks = p.thinks || q.Generation.Thinking.Include
	if !s.meet(x, p) {
		return
	}
	out := contentAnswer{answer: compose(q.ask(), p), plan: p, model: q.model, id: fmt.Sprintf("fake-%d", x.seq), searches: q.mixes()}
	if q.streams {
		s.stream(x, p, out.events())
		return
	}
	s.whole(x, p, out.document())
}

// check says what Google would refuse, as far as a gateway may get it wrong.
func (q *contentRequest) check() string {
	if len(q.Contents) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified"
	}
	if len(q.Generation.Stop) > 5 {
		return "The number of stop sequences must be at most 5."
	}
	switch {
	case q.mixes() && !signs(q.model):
		return "Built-in tools ({google_search}) and Function Calling cannot be combined in the same request."
	case q.mixes() && !q.ToolConfig.Shows:
		return "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling."
	}
	if q.Generation.Thinking.Budget != nil && q.Generation.Thinking.Level != "" {
		return "You can only set only one of thinking budget and thinking level."
	}
	for i, c := range q.Contents {
		switch {
		case c.Role != "user" && c.Role != "model":
			return "Please use a valid role: user, model."
		case len(c.Parts) == 0:
			return fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i)
		}
		if problem := q.checkCalls(i); problem != "" {
			return problem
		}
	}
	return q.checkSignatures()
}

// mixes reports whether the model may search the web, and has functions too.
func (q *contentRequest) mixes() bool {
	functions, search := false, false
	for _, t := range q.Tools {
		functions, search = functions || t.Functions != nil, search || t.GoogleSearch != nil
	}
	return functions && search
}

// checkCalls says what is wrong with the calls of a content, or with the responses to them.
func (q *contentRequest) checkCalls(i int) string {
	c := q.Contents[i]
	var calls, next []string
	for _, p := range c.Parts {
		if p.Call != nil {
			calls = append(calls, p.Call.Name+" "+p.Call.ID)
		}
		if p.Response != nil && p.Response.Response == nil {
			return fmt.Sprintf("* GenerateContentRequest.contents[%d].parts: function_response.response: required", i)
		}
	}
	if len(calls) == 0 {
		return ""
	}
	if i == 0 || q.Contents[i-1].Role != "user" {
		return "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	}
	if i+1 < len(q.Contents) {
		for _, p := range q.Contents[i+1].Parts {
			if p.Response != nil {
				next = append(next, p.Response.Name+" "+p.Response.ID)
			}
		}
	}
	if strings.Join(calls, ",") != strings.Join(next, ",") {
		return fmt.Sprintf("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn: %q, %q", calls, next)
	}
	return ""
}

// checkSignatures says which signature of the turn under way is missing or belongs to another call.
func (q *contentRequest) checkSignatures() string {
	begin := 0
	for i, c := range q.Contents {
		if c.Role == "user" && c.Parts[0].Response == nil {
			begin = i
		}
	}
	for i, c := range q.Contents {
		first := true
		for k, p := range c.Parts {
			if p.Call == nil {
				continue
			}
			if own := k > 1 && c.Parts[k-2].OwnCall != nil && c.Parts[k-1].OwnResult != nil; first && i > begin && q.mixes() && p.Signature != anySignature && !own {
				return "The search before the function call is missing."
			}
			switch want := signatureOf(p.Call.Name, p.Call.Args); {
			case p.Signature == "" && first && i > begin && signs(q.model):
				return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. Function call `%s` in the %d. content block, position %d", p.Call.Name, i+1, k+1)
			case p.Signature != "" && p.Signature != want && p.Signature != anySignature:
				return "Thought signature is not valid."
			}
			first = false
		}
	}
	return ""
}

func (q *contentRequest) ask() ask {
	g := &q.Generation
	a := ask{model: q.model, stream: q.streams, n: g.CandidateCount, prompt: 3, stop: g.Stop, maxOut: g.MaxOutputTokens}
	for _, p := range q.System.Parts {
		a.prompt += tokens(p.Text)
	}
	for _, c := range q.Contents {
		role, text := c.Role, ""
		a.prompt += 3
		for _, p := range c.Parts {
			switch {
			case p.Response != nil:
				role = "tool"
				for _, v := range p.Response.Response {
					var plain string
					_ = json.Unmarshal(v, &plain) // another type has no text
					text += plain
				}
			case p.Inline != nil || p.File != nil:
				a.prompt += imageTokens
			default:
				text += p.Text
			}
		}
		a.prompt += tokens(text)
		a.hear(role, text)
	}
	for _, set := range q.Tools {
		for _, f := range set.Functions {
			schema := f.JSONSchema
			if schema == nil {
				schema = f.Parameters
			}
			a.prompt += tokens(f.Name) + tokens(string(schema))
			if q.ToolConfig.Calling.Mode != "NONE" {
				a.tools = append(a.tools, tool{name: f.Name, schema: schema})
			}
		}
	}
	if allowed := q.ToolConfig.Calling.Allowed; len(allowed) > 0 {
		a.chosen = allowed[0]
	}
	a.asJSON = g.MimeType == "application/json"
	if a.schema = g.JSONSchema; a.schema == nil {
		a.schema = g.Schema
	}
	return a
}

// embedContents serves POST …/models/MODEL:batchEmbedContents.
func (s *Server) embedContents(x *exchange) {
	var q struct {
		Requests []struct {
			Model      string        `json:"model"`
			Content    geminiContent `json:"content"`
			TaskType   string        `json:"taskType"`
			Title      string        `json:"title"`
			Dimensions int           `json:"outputDimensionality"`
		} `json:"requests"`
	}
	d := json.NewDecoder(bytes.NewReader(x.body))
	d.DisallowUnknownFields()
	model := geminiModel(x.r.URL.Path)
	problem := ""
	if err := d.Decode(&q); err != nil {
		problem = "Invalid JSON payload received. " + err.Error()
	}
	type vector struct {
		Values []float32 `json:"values"`
	}
	list, count := []vector{}, 0
	for _, r := range q.Requests {
		switch {
		case r.Model != "models/"+model:
			problem = "* BatchEmbedContentsRequest.requests[0].model: model must match the model in the path"
		case len(r.Content.Parts) != 1 || r.Content.Parts[0].Text == "":
			problem = "* BatchEmbedContentsRequest.requests[0].content: contents is not specified"
		default:
			size := r.Dimensions
			if size <= 0 {
				size = vectorSize
			}
			text := r.Content.Parts[0].Text
			count += tokens(text)
			list = append(list, vector{vectorOf(text, size)})
		}
	}
	if problem != "" {
		x.dialect.fail(x.w, failure{status: http.StatusBadRequest, message: problem})
		return
	}
	p := planOf(model)
	if !s.meet(x, p) {
		return
	}
	doc := map[string]any{"embeddings": list}
	if p.usage != "none" {
		doc["usageMetadata"] = map[string]int{"promptTokenCount": count, "totalTokenCount": count}
	}
	s.whole(x, p, doc)
}
