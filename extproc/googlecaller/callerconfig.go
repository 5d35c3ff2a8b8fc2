package googlecaller

import (
	"math"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/cluster/usage"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/googleschema"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// callerConfig is generationConfig.
type callerConfig struct {
	Temperature      *float64        `json:"temperature"`
	TopP             *float64        `json:"topP"`
	TopK             *float64        `json:"topK"`
	Candidates       *dialect.Whole  `json:"candidateCount"`
	MaxOutputTokens  *dialect.Whole  `json:"maxOutputTokens"`
	Stop             []string        `json:"stopSequences"`
	PresencePenalty  *float64        `json:"presencePenalty"`
	FrequencyPenalty *float64        `json:"frequencyPenalty"`
	Seed             *dialect.Whole  `json:"seed"`
	ResponseLogprobs *bool           `json:"responseLogprobs"`
	Logprobs         *dialect.Whole  `json:"logprobs"`
	MimeType         string          `json:"responseMimeType"`
	Schema           jsontext.Value  `json:"responseSchema"`
	JSONSchema       jsontext.Value  `json:"responseJsonSchema"`
	Modalities       []string        `json:"responseModalities"`
	Speech           *callerSpeech   `json:"speechConfig"`
	Thinking         *callerThinking `json:"thinkingConfig"`
	Resolution       jsontext.Value  `json:"mediaResolution"` // a hint
	Extra            jsontext.Value  `json:",embed"`
}

type callerSpeech struct {
	Voice struct {
		Prebuilt struct {
			Name string `json:"voiceName"`
		} `json:"prebuiltVoiceConfig"`
	} `json:"voiceConfig"`
	MultiSpeaker jsontext.Value `json:"multiSpeakerVoiceConfig"`
	Language     string         `json:"languageCode"`
}

// samples is how OpenAI's chats name the only form in which Google's models speak.
const samples = "pcm16"

// dynamicThinking is the budget of models that decide by themselves how much they think.
const dynamicThinking = -1

type callerThinking struct {
	IncludeThoughts bool           `json:"includeThoughts"`
	Budget          *dialect.Whole `json:"thinkingBudget"`
	Level           string         `json:"thinkingLevel"`
}

// config reads generationConfig.
func (c *callerRequest) config(a *wire.Request) error {
	g := &c.Config
	const at = "generationConfig."
	for _, err := range []error{
		dialect.In(g.Temperature, 0, 2, at+"temperature"),
		dialect.In(g.TopP, 0, 1, at+"topP"),
		dialect.In(g.Candidates, 1, 128, at+"candidateCount"),
		dialect.In(g.MaxOutputTokens, 1, usage.Limit, at+"maxOutputTokens"),
		dialect.In(g.PresencePenalty, -2, 2, at+"presencePenalty"),
		dialect.In(g.FrequencyPenalty, -2, 2, at+"frequencyPenalty"),
		dialect.In(g.Logprobs, 0, 20, at+"logprobs"),
	} {
		if err != nil {
			return err
		}
	}
	a.MaxTokens, a.Stop = (*int64)(g.MaxOutputTokens), g.Stop
	a.Sampling = wire.Sampling{
		Temperature: g.Temperature, TopP: g.TopP, FrequencyPenalty: g.FrequencyPenalty, PresencePenalty: g.PresencePenalty,
		N: (*int64)(g.Candidates), Seed: (*int64)(g.Seed), Logprobs: g.ResponseLogprobs, TopLogprobs: (*int64)(g.Logprobs),
	}
	if g.TopK != nil {
		raw, err := json.Marshal(int64(math.Round(*g.TopK)))
		if err != nil {
			return err
		}
		a.Extra = append(a.Extra, wire.Field{Name: "top_k", Value: raw})
	}
	for _, step := range []func(*wire.Request) error{g.format, g.modalities, g.reasoning, g.extra} {
		if err := step(a); err != nil {
			return err
		}
	}
	return nil
}

// format reads the form of the response's text.
func (g *callerConfig) format(a *wire.Request) error {
	const at = "generationConfig."
	switch g.MimeType {
	case "", "text/plain":
		if g.MimeType == "" && (dialect.Present(g.Schema) != nil || dialect.Present(g.JSONSchema) != nil) {
			return fault.Field(at+"responseMimeType", dialect.CodeMissing, "%sresponseMimeType must be application/json for a response with a schema.", at)
		}
		return nil
	case "application/json":
	default:
		return fault.Field(at+"responseMimeType", dialect.CodeValue, "%sresponseMimeType must be text/plain or application/json for this model.", at)
	}
	a.Format = wire.Format{Kind: wire.FormatObject}
	schema, name := dialect.Present(g.JSONSchema), "responseJsonSchema"
	if own := dialect.Present(g.Schema); schema == nil && own != nil {
		name = "responseSchema"
		if own.Kind() == '{' {
			own = googleschema.Standard(own)
		}
		schema = own
	}
	switch {
	case schema == nil:
	case schema.Kind() != '{':
		return fault.Field(at+name, dialect.CodeType, "%s%s must be an object.", at, name)
	default:
		a.Format = wire.Format{Kind: wire.FormatSchema, Schema: schema}
	}
	return nil
}

// modalities reads the kinds of the response.
func (g *callerConfig) modalities(a *wire.Request) error {
	for _, kind := range g.Modalities {
		a.Modalities = append(a.Modalities, strings.ToLower(kind))
	}
	if s := g.Speech; s != nil && slices.Contains(a.Modalities, "audio") {
		voice, err := json.Marshal(&struct {
			Voice  string `json:"voice,omitzero"`
			Format string `json:"format"`
		}{s.Voice.Prebuilt.Name, samples})
		if err != nil {
			return err
		}
		a.Audio = voice
	}
	return nil
}

// reasoning reads thinkingConfig. A budget becomes an effort, which every provider has a meaning for.
func (g *callerConfig) reasoning(a *wire.Request) error {
	t := g.Thinking
	if t == nil {
		return nil
	}
	const at = "generationConfig.thinkingConfig."
	if err := dialect.In(t.Budget, dynamicThinking, usage.Limit, at+"thinkingBudget"); err != nil {
		return err
	}
	switch level := strings.ToLower(t.Level); level {
	case "", "thinking_level_unspecified":
	case "minimal", "low", "medium", "high":
		a.Reasoning.Effort = level
	default:
		return fault.Field(at+"thinkingLevel", dialect.CodeValue, "%sthinkingLevel must be MINIMAL, LOW, MEDIUM or HIGH.", at)
	}
	if t.Budget != nil && a.Reasoning.Effort == "" {
		switch budget := int64(*t.Budget); {
		case budget == 0:
			a.Reasoning.Effort = "none"
		case budget < 0: // the model decides
			a.Reasoning.Effort = "medium"
		default:
			a.Reasoning.Effort = wire.EffortOf(budget)
		}
	}
	if t.IncludeThoughts && a.Reasoning.Effort != "none" {
		a.Reasoning.Summary = "auto"
	}
	return nil
}

// extra keeps the members that have no canonical form, under names that say where they are.
func (g *callerConfig) extra(a *wire.Request) error {
	more, err := dialect.Extra(g.Extra, func(string) bool { return false })
	for _, f := range more {
		if dialect.Present(f.Value) != nil {
			a.Extra = append(a.Extra, wire.Field{Name: "generationConfig." + f.Name, Value: f.Value})
		}
	}
	return err
}
