package main

import (
	"fmt"
	"strings"

	"github.com/modelgateway/modelgateway/bench/internal/anthropic"
	"github.com/modelgateway/modelgateway/bench/internal/forms"
	"github.com/modelgateway/modelgateway/bench/internal/openai"
)

// The kinds of request.
const (
	chat          = "chat"
	messages      = "messages"
	embeddings    = "embeddings"
	speech        = "speech"
	transcription = "transcription"
)

func kinds() []string { return []string{chat, messages, embeddings, speech, transcription} }

// document is the body of a request.
type document struct {
	body        []byte
	contentType string
}

func documentOf(o *options) (document, error) {
	d := document{contentType: "application/json"}
	switch o.kind {
	case chat:
		if o.prompt != "" {
			d.body = openai.PromptRequest(o.model, o.prompt, o.size)
			break
		}
		d.body = openai.ChatRequest(o.model, o.size, o.stream)
	case messages:
		d.body = anthropic.Request(o.model, o.size)
	case embeddings:
		d.body = openai.EmbeddingsRequest(o.model, o.size)
	case speech:
		d.body = openai.SpeechRequest(o.model, o.size)
	case transcription:
		d = document{forms.Transcription(o.model, o.size), forms.ContentType}
	default:
		return d, fmt.Errorf("-kind must be one of %s, not %q", strings.Join(kinds(), ", "), o.kind)
	}
	return d, nil
}
