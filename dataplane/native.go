package dataplane

import (
	"slices"
	"strings"
)

// Providers' own clients expect their provider's paths. The gateway serves these below the provider's name
// (/anthropic/v1/messages), so that a client's base address is the gateway's with that name, and those of
// Google and Azure also without it, as no other operation has them. Each is a row of the table under another
// path. Project, location and publisher in a path choose nothing: the model does.

// Found is what a path of a provider's own form names.
type Found struct {
	Path  string // of the operation's row
	Form  string // of the request's body, if it is another one than the row's; see the forms
	Model string // the name in the path; empty if there is none
}

// Forms of bodies that are not those of a row.
const (
	FormVertex  = "vertex"  // Anthropic's messages as Vertex AI has them: without a model, and with a version
	FormPredict = "predict" // embeddings as instances of Vertex AI
	FormInvoke  = "invoke"  // Anthropic's messages as InvokeModel of Bedrock has them: without a model, and with a version
	FormInvokes = "invokes" // the same as a stream
)

// method is what ends a path behind its model: of Google's behind a colon.
type method struct{ name, path, form string }

// methods lists the methods of Google's paths.
func methods() [8]method {
	return [...]method{
		{"generateContent", pathContents, ""},
		{"streamGenerateContent", pathStreamedContents, ""},
		{"countTokens", pathContentsCount, ""},
		{"embedContent", pathEmbedContent, ""},
		{"batchEmbedContents", pathBatchEmbedContents, ""},
		{"rawPredict", pathMessages, FormVertex},
		{"streamRawPredict", pathMessages, FormVertex},
		{"predict", pathEmbeddings, FormPredict},
	}
}

// countsTokens is in place of a model in the path of a count of tokens for Anthropic's models on Vertex AI.
const countsTokens = "count-tokens"

// The prefixes of the providers of which the gateway has operations.
const (
	prefixAnthropic = "/anthropic"
	prefixAzure     = "/azure"
	prefixBedrock   = "/bedrock"
	prefixCohere    = "/cohere"
	prefixGemini    = "/gemini"
	prefixOpenAI    = "/openai"
	prefixPassed    = "/openai_passthrough" //nolint:gosec // no credential: a path, as another gateway calls it
	prefixVertex    = "/vertex_ai"
)

// prefixes lists them.
func prefixes() [8]string {
	return [...]string{prefixAnthropic, prefixAzure, prefixBedrock, prefixCohere, prefixGemini, prefixOpenAI, prefixPassed, prefixVertex}
}

// Find returns what a path names that is not among the exact paths of an operation.
func Find(path string) (f Found, ok bool) {
	if f, ok = findMethod(path); ok {
		return f, true
	}
	if f, ok = findBedrock(path); ok {
		return f, true
	}
	for _, o := range Operations() {
		if slices.Contains(o.Aliases(), path) {
			return Found{Path: o.Path}, true
		}
	}
	model, rest, ok := PathModel(strings.TrimPrefix(path, prefixAzure))
	if !ok {
		return Found{}, false
	}
	return Found{Path: rest, Model: model}, true
}

// bedrockMethods lists what ends a path of Bedrock, behind the model and a slash.
func bedrockMethods() [5]method {
	return [...]method{
		{"invoke", pathMessages, FormInvoke},
		{"invoke-with-response-stream", pathMessages, FormInvokes},
		{"converse", pathConverse, ""},
		{"converse-stream", pathStreamedConverse, ""},
		{"count-tokens", pathConverseCount, ""},
	}
}

// bedrockModel is where Bedrock has its models.
const bedrockModel = prefixBedrock + "/model/"

// findBedrock reads a path of Bedrock's form. Clients escape the slashes of a model.
func findBedrock(path string) (Found, bool) {
	rest, ok := strings.CutPrefix(path, bedrockModel)
	model, name, found := strings.Cut(rest, "/")
	if !ok || !found || model == "" {
		return Found{}, false
	}
	for _, m := range bedrockMethods() {
		if m.name == name {
			return Found{m.path, m.form, model}, true
		}
	}
	return Found{}, false
}

// findMethod reads a path of Google's form.
func findMethod(path string) (Found, bool) {
	at := strings.LastIndexByte(path, ':')
	if at < 0 {
		return Found{}, false
	}
	list := methods()
	i := slices.IndexFunc(list[:], func(m method) bool { return m.name == path[at+1:] })
	if i < 0 {
		return Found{}, false
	}
	model, onVertex := googleModel(path[:at])
	m := &list[i]
	switch {
	case model == "", m.form != "" && !onVertex, m.path == pathBatchEmbedContents && onVertex:
		return Found{}, false
	case m.form == FormVertex && model == countsTokens:
		return Found{Path: pathMessagesCount, Form: FormVertex}, true
	}
	return Found{m.path, m.form, model}, true
}

// googleModel returns the model of a path of Google's without its method, and whether the path is one of
// Vertex AI; empty if it is neither API's.
func googleModel(path string) (model string, onVertex bool) {
	rest, onVertex := strings.CutPrefix(path, prefixVertex)
	if !onVertex {
		rest = strings.TrimPrefix(path, prefixGemini)
	}
	rest, ok := afterVersion(rest)
	if !ok {
		return "", false
	}
	for _, collection := range [...]string{"models/", "tunedModels/"} {
		if model, ok := strings.CutPrefix(rest, collection); ok && !onVertex {
			return model, false
		}
	}
	if len(path) > len(prefixGemini) && path[:len(prefixGemini)+1] == prefixGemini+"/" {
		return "", false
	}
	if after, ok := strings.CutPrefix(rest, "projects/"); ok {
		_, after, _ = strings.Cut(after, "/")
		if after, ok = strings.CutPrefix(after, "locations/"); !ok {
			return "", false
		}
		_, rest, _ = strings.Cut(after, "/")
	}
	rest, ok = strings.CutPrefix(rest, "publishers/")
	publisher, model, found := strings.Cut(rest, "/models/")
	switch {
	case !ok || !found || strings.Contains(publisher, "/"):
		return "", false
	case publisher != "google" && publisher != "anthropic": // clients divide a model's name at its slash
		model = publisher + "/" + model
	}
	return model, true
}

// afterVersion returns what follows the version of an API, such as /v1beta/.
func afterVersion(path string) (string, bool) {
	version, rest, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if !ok || len(version) < 2 || version[0] != 'v' || version[1] < '0' || version[1] > '9' || path[0] != '/' {
		return "", false
	}
	return rest, true
}

// Aliases lists the exact paths of the operation below the providers' prefixes.
func (o *Operation) Aliases() []string {
	var out []string
	for _, prefix := range o.prefixes() {
		if o.Alone {
			out = append(out, prefix+o.Path)
			continue
		}
		out = append(out, prefix+"/v1"+o.Path)
		if o.Version2 {
			out = append(out, prefix+"/v2"+o.Path)
		}
	}
	return out
}

// PathEnds returns the ends of all paths of the operation's streams.
func (o *Operation) PathEnds() []string {
	var out []string
	if o.Method == "" {
		out = append(out, o.Path)
	}
	for _, m := range methods() {
		if m.path == o.Path && strings.HasPrefix(m.name, "stream") {
			out = append(out, ":"+m.name)
		}
	}
	return out
}

// prefixes returns the prefixes of the providers whose clients send the operation's requests.
func (o *Operation) prefixes() []string {
	switch {
	case o.Method != "":
		return nil
	case o.CallType == Rerank, o.Language == languageCohere:
		return []string{prefixCohere}
	case o.Language == languageAnthropic:
		return []string{prefixAnthropic}
	}
	return []string{prefixOpenAI, prefixPassed, prefixAzure + prefixOpenAI}
}

// onVertex is where Vertex AI has the models of a publisher.
const onVertex = prefixVertex + "/v1/projects/{project}/locations/{location}/publishers/"

// Templates lists the paths of the operation that name the model, with {model} in its place.
func (o *Operation) Templates() []string {
	var out []string
	for _, m := range methods() {
		switch {
		case m.path != o.Path:
		case m.form == FormVertex:
			out = append(out, onVertex+"anthropic/models/{model}:"+m.name)
		case m.form == FormPredict:
			out = append(out, onVertex+"google/models/{model}:"+m.name)
		case m.path == pathBatchEmbedContents: // Vertex AI has none
			out = append(out, "/v1beta/models/{model}:"+m.name, prefixGemini+"/v1beta/models/{model}:"+m.name)
		default:
			out = append(out, "/v1beta/models/{model}:"+m.name, prefixGemini+"/v1beta/models/{model}:"+m.name, onVertex+"google/models/{model}:"+m.name)
		}
	}
	for _, m := range bedrockMethods() {
		if m.path == o.Path {
			out = append(out, bedrockModel+"{model}/"+m.name)
		}
	}
	if slices.Contains(o.prefixes(), prefixOpenAI) {
		out = append(out, "/openai/deployments/{model}"+o.Path, prefixAzure+"/openai/deployments/{model}"+o.Path)
	}
	return out
}

// Prefixes lists the beginnings of paths below which all is a provider's form.
func Prefixes() []string {
	var out []string
	for _, prefix := range prefixes() {
		out = append(out, prefix+"/")
	}
	return out
}

// mostNamed is the most paths that a text names.
const mostNamed = 12

// Supported says in a sentence which paths of the provider exist whose form a path has; empty if it has none.
func Supported(path string) string {
	if !prefixed(path) && !isBelow(path, "/v1beta") && !strings.Contains(path, ":") {
		return ""
	}
	known := Known(path)
	if len(known) == 0 {
		return ""
	}
	return "It supports " + strings.Join(known[:min(len(known), mostNamed)], ", ") + ", and what GET /openapi.json lists."
}

// Documented lists the paths of the operation in the API's description, the usual one first: of one of Google's or
// Bedrock's those with {model} in it. The other paths of providers' clients lead to the same, and are not repeated there.
func (o *Operation) Documented() []string {
	if o.Method != "" {
		return o.Templates()
	}
	return o.Paths()
}

// Patterns lists regular expressions, in RE2's syntax, for the whole paths that Find knows without a prefix. Envoy
// takes short ones only.
func Patterns() []string {
	return []string{
		"^/(v1/)?engines/[^/]+/.+$",
		"^/v[0-9][^/]*/(models|tunedModels|projects|publishers)/.+:[A-Za-z]+$",
	}
}

// Known lists the paths of a provider's form that exist: those below the prefix that a path has, or those of
// Google's if it has none.
func Known(path string) []string {
	prefix := "/v1"
	for _, p := range prefixes() {
		if isBelow(path, p) {
			prefix = p
		}
	}
	var out []string
	for _, o := range Operations() {
		for _, known := range append(o.Aliases(), o.Templates()...) {
			if strings.HasPrefix(known, prefix) {
				out = append(out, known)
			}
		}
	}
	return out
}

// Models returns the usual path of the list of models, or of one model, for a path of those in any provider's
// form; not ok for another path.
func Models(path string) (usual string, ok bool) {
	whole := path
	for _, prefix := range [...]string{prefixAzure + prefixOpenAI, prefixAnthropic, prefixCohere, prefixGemini, prefixPassed, prefixOpenAI, prefixVertex} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && strings.HasPrefix(rest, "/") {
			path = rest
			break
		}
	}
	rest, ok := afterVersion(path)
	if !ok {
		rest = strings.TrimPrefix(path, "/")
	}
	rest = strings.TrimPrefix(rest, "publishers/google/")
	if rest != "models" && !strings.HasPrefix(rest, "models/") {
		return "", false
	}
	if _, isMethod := findMethod(whole); isMethod {
		return "", false
	}
	return "/v1/" + rest, true
}

// IsModels reports whether a path lists models, or describes one, in any provider's form.
func IsModels(path string) bool {
	_, ok := Models(path)
	return ok
}

// prefixed reports whether a path is below a provider's prefix.
func prefixed(path string) bool {
	for _, prefix := range prefixes() {
		if isBelow(path, prefix) {
			return true
		}
	}
	return false
}
