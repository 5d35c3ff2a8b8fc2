// Package dataplane is the table of the operations of the data plane: the requests
// that a provider's model answers. Envoy's routes, the request pipeline, the groups of
// routes of a key and the errors for unknown paths read it. It is a leaf.
package dataplane

import (
	"slices"
	"strings"
)

// Operation describes one operation. Its requests are POST.
type Operation struct {
	CallType string // its name in events, records and metrics
	ID       string // its operationId in the API's description; its title is the same in words
	Path     string // without the version; it is also the provider's endpoint in extproc/driver
	Language string // the caller's API, as in extproc/wire
	Version2 bool   // it is at /v2 as well, as at Cohere's API
	Alone    bool   // it has one path without a prefix: Path, with the version in it
	Method   string // what ends its paths behind the model, of Google's and Bedrock's; empty for the others, whose paths are exact
	Streams  bool   // its responses are streams: the path says so, and not the body
	Request  Form
	Response string // media type of a response that is sent whole
	Stream   string // media type of a response that is sent in pieces, on request; empty if there is none
	Framed   string // media type of a stream that callers get in another framing than that of Stream; empty if there is none
	Text     string // media type of a response in another format than the usual one; empty if there is none
}

// Answers lists the media types of the responses that callers get.
func (o *Operation) Answers() []string {
	if o.Framed != "" {
		return []string{o.Framed}
	}
	out := []string{o.Response}
	for _, other := range [...]string{o.Stream, o.Text} {
		if other != "" {
			out = append(out, other)
		}
	}
	return out
}

// Form is the form of a request's body.
type Form struct {
	Name    string // for errors
	Media   string // its media type, in lower case
	Suffix  string // of other media types that count as Media; empty if there are none
	Charset string // the only one, in lower case; empty if there is no such parameter
}

// Is reports whether a media type, in lower case and without parameters, is of the form.
func (f *Form) Is(media string) bool {
	return media == f.Media || f.Suffix != "" && strings.HasSuffix(media, f.Suffix)
}

// JSON returns the form of bodies that are JSON.
func JSON() Form {
	return Form{Name: "JSON", Media: "application/json", Suffix: "+json", Charset: "utf-8"}
}

// Multipart returns the form of bodies that are forms with files.
func Multipart() Form {
	return Form{Name: "a form", Media: "multipart/form-data"}
}

// The call types.
const (
	Chat        = "chat.completions"
	Completions = "completions"
	Embeddings  = "embeddings"
	Moderations = "moderations"
	Images      = "images.generations"
	Rerank      = "rerank"
	Messages    = "messages"
	Responses   = "responses"

	MessagesCount  = "messages.count_tokens"
	ResponsesCount = "responses.input_tokens"

	ImageEdits     = "images.edits"
	Speech         = "audio.speech"
	Transcriptions = "audio.transcriptions"
	Translations   = "audio.translations"

	Contents      = "contents"
	ContentsCount = "contents.count_tokens"

	Converse      = "converse"
	ConverseCount = "converse.count_tokens"
	Turns         = "chat"
)

// Paths that the providers' own paths lead to.
const (
	pathMessages           = "/messages"
	pathMessagesCount      = "/messages/count_tokens"
	pathEmbeddings         = "/embeddings"
	pathContents           = "/generateContent"
	pathStreamedContents   = "/streamGenerateContent"
	pathContentsCount      = "/countTokens"
	pathEmbedContent       = "/embedContent"
	pathBatchEmbedContents = "/batchEmbedContents"
	pathConverse           = "/converse"
	pathStreamedConverse   = "/converse-stream"
	pathConverseCount      = "/count-tokens"
	pathTurns              = "/v2/chat"
)

// Languages that this package tells apart; see extproc/wire.
const (
	languageAnthropic = "anthropic"
	languageConverse  = "converse"
	languageCohere    = "cohere"
	languageGemini    = "gemini"
	languageOpenAI    = "openai"
)

// Media types of responses.
const (
	mediaJSON   = "application/json"
	mediaEvents = "text/event-stream"
	mediaFrames = "application/vnd.amazon.eventstream"
	mediaText   = "text/plain"
	mediaSound  = "audio/mpeg" // or another one of audio
)

// Operations lists all operations. It is an array because each request reads it, and an
// array is not allocated.
func Operations() [23]Operation {
	var out [23]Operation
	own, native := openOperations(), nativeOperations()
	copy(out[copy(out[:], own[:]):], native[:])
	return out
}

// openOperations lists those with exact paths.
func openOperations() [14]Operation {
	return [...]Operation{
		{
			CallType: Chat, ID: "createChatCompletion", Path: "/chat/completions", Language: "openai",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: Messages, ID: "createMessage", Path: pathMessages, Language: languageAnthropic,
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: Responses, ID: "createResponse", Path: "/responses", Language: "responses",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: MessagesCount, ID: "countMessageTokens", Path: pathMessagesCount, Language: languageAnthropic,
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: ResponsesCount, ID: "countResponseTokens", Path: "/responses/input_tokens", Language: "responses",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Embeddings, ID: "createEmbedding", Path: pathEmbeddings, Language: "openai",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Completions, ID: "createCompletion", Path: "/completions", Language: "completions",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: Moderations, ID: "createModeration", Path: "/moderations", Language: "openai",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Images, ID: "createImage", Path: "/images/generations", Language: "openai",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: Rerank, ID: "createRerank", Path: "/rerank", Language: "openai", Version2: true,
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: ImageEdits, ID: "createImageEdit", Path: "/images/edits", Language: "openai",
			Request: Multipart(), Response: mediaJSON, Stream: mediaEvents,
		},
		{
			CallType: Speech, ID: "createSpeech", Path: "/audio/speech", Language: "openai",
			Request: JSON(), Response: mediaSound, Stream: mediaEvents,
		},
		{
			CallType: Transcriptions, ID: "createTranscription", Path: "/audio/transcriptions", Language: "openai",
			Request: Multipart(), Response: mediaJSON, Stream: mediaEvents, Text: mediaText,
		},
		{
			CallType: Translations, ID: "createTranslation", Path: "/audio/translations", Language: "openai",
			Request: Multipart(), Response: mediaJSON, Text: mediaText,
		},
	}
}

// nativeOperations lists those whose paths name the model, as a provider's own clients write them.
func nativeOperations() [9]Operation {
	return [...]Operation{
		{
			CallType: Contents, ID: "generateContent", Path: pathContents, Language: languageGemini, Method: "generateContent",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Contents, ID: "streamGenerateContent", Path: pathStreamedContents, Language: languageGemini, Method: "streamGenerateContent",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents, Streams: true,
		},
		{
			CallType: ContentsCount, ID: "countContentTokens", Path: pathContentsCount, Language: languageGemini, Method: "countTokens",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Embeddings, ID: "embedContent", Path: pathEmbedContent, Language: languageGemini, Method: "embedContent",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Embeddings, ID: "batchEmbedContents", Path: pathBatchEmbedContents, Language: languageGemini, Method: "batchEmbedContents",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Converse, ID: "converse", Path: pathConverse, Language: languageConverse, Method: "converse",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Converse, ID: "converseStream", Path: pathStreamedConverse, Language: languageConverse, Method: "converse-stream",
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents, Streams: true, Framed: mediaFrames,
		},
		{
			CallType: ConverseCount, ID: "countConverseTokens", Path: pathConverseCount, Language: languageConverse, Method: "count-tokens",
			Request: JSON(), Response: mediaJSON,
		},
		{
			CallType: Turns, ID: "chat", Path: pathTurns, Language: languageCohere, Alone: true,
			Request: JSON(), Response: mediaJSON, Stream: mediaEvents,
		},
	}
}

// Paths lists the exact paths of the operation, the documented one first. One of Google's or Bedrock's has none.
func (o *Operation) Paths() []string {
	if o.Method != "" {
		return nil
	}
	if o.Alone {
		return []string{o.Path}
	}
	out := []string{"/v1" + o.Path, o.Path}
	if o.Version2 {
		out = append(out, "/v2"+o.Path)
	}
	return out
}

// PathModel splits a path of the form that Azure's clients have: /openai/deployments/MODEL/…, or
// /engines/MODEL/…. It returns the model, and the path without it.
func PathModel(path string) (model, rest string, ok bool) {
	for _, prefix := range [...]string{"/openai/deployments/", "/engines/", "/v1/engines/"} {
		after, found := strings.CutPrefix(path, prefix)
		if !found {
			continue
		}
		if model, rest, ok = strings.Cut(after, "/"); ok && model != "" {
			return model, "/" + rest, IsOperation("/" + rest)
		}
	}
	return "", "", false
}

// Paths lists the exact paths of all operations.
func Paths() []string {
	var out []string
	for _, o := range Operations() {
		out = append(out, o.Paths()...)
	}
	return out
}

// stems returns the beginnings of paths at which this gateway or others serve models, the usual one
// first. Each request is compared with them; a test checks that no operation is missing.
func stems() [13]string {
	return [...]string{
		"/chat/completions", "/completions", "/embeddings", "/messages", "/responses", "/rerank", "/moderations",
		"/images", "/audio", "/files", "/batches", "/openai", "/engines",
	}
}

// IsInference reports whether a path is in the group of routes that models answer, here or
// at other gateways. A leading /v1 or /v2 is not compared.
func IsInference(path string) bool {
	if IsModels(path) {
		return false
	}
	if _, ok := findMethod(path); ok || prefixed(path) || isBelow(path, pathTurns) {
		return true
	}
	for _, version := range [...]string{"/v1/", "/v2/"} {
		if strings.HasPrefix(path, version) {
			path = path[len(version)-1:]
			break
		}
	}
	for _, stem := range stems() {
		if isBelow(path, stem) {
			return true
		}
	}
	return false
}

// IsOperation reports whether a path without a version is an operation's, or below one.
func IsOperation(path string) bool {
	for _, o := range Operations() {
		if o.Method == "" && !o.Alone && isBelow(path, o.Path) {
			return true
		}
	}
	return false
}

// Language returns the language of the callers at a path: that of the operation, else of the provider whose
// form the path has; empty if there is none.
func Language(path string) string {
	for _, o := range Operations() {
		switch {
		case o.Version2 && path == "/v2"+o.Path, isBelow(path, prefixCohere):
			return languageCohere
		case slices.Contains(o.Paths(), path):
			return o.Language
		}
	}
	if f, ok := Find(path); ok && (f.Form != FormPredict) {
		for _, o := range Operations() {
			if o.Path == f.Path {
				return o.Language
			}
		}
	}
	switch {
	case isBelow(path, prefixBedrock):
		return languageConverse
	case isBelow(path, prefixAnthropic), strings.Contains(path, "/publishers/anthropic/"):
		return languageAnthropic
	case isBelow(path, prefixOpenAI), isBelow(path, prefixPassed), isBelow(path, prefixAzure):
		return languageOpenAI
	case isBelow(path, prefixGemini), isBelow(path, prefixVertex), isBelow(path, "/v1beta"), strings.Contains(path, "/publishers/google/"):
		return languageGemini
	}
	return ""
}

func isBelow(path, stem string) bool {
	rest, ok := strings.CutPrefix(path, stem)
	return ok && (rest == "" || rest[0] == '/')
}
