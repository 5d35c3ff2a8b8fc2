package deepgram

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// speech writes a request for speech.
func speech(o *splice.Object, t driver.Target) (driver.Rewritten, error) {
	model, err := modelOf(o, t)
	if err != nil {
		return driver.Rewritten{}, err
	}
	input := jsontext.Value(o.Get("input"))
	if input.Kind() != '"' {
		return driver.Rewritten{}, fault.Field("input", "invalid_type", "input must be a text.")
	}
	if string(o.Get("stream_format")) == `"audio"` { // what Deepgram does anyway
		o.Remove("stream_format")
	}
	if err := driver.RejectMembers(o, t, vendor, "instructions", "stream_format"); err != nil {
		return driver.Rewritten{}, err
	}
	var q query
	q.add("model", model)
	if err := q.format(o, t); err != nil {
		return driver.Rewritten{}, err
	}
	if err := q.members(o, "model", "voice", "input", "text", "response_format", "user"); err != nil {
		return driver.Rewritten{}, err
	}
	return driver.Rewritten{Body: append(append([]byte(`{"text":`), input...), '}'), Place: q.text.String()}, nil
}

// modelOf returns Deepgram's name of a voice, such as aura-2-thalia-en. If the deployment's model is such a name, the caller may
// repeat its voice. If it is a family, such as aura-2, the caller chooses one of its voices. A voice of another
// family has another price.
func modelOf(o *splice.Object, t driver.Target) (string, error) {
	family, voice, whole := divided(t.Model)
	raw := jsontext.Value(o.Get("voice"))
	if raw.Kind() == '{' {
		raw = splice.Lookup(raw, "id")
	}
	name := ""
	if raw != nil && (raw.Kind() != '"' || json.Unmarshal(raw, &name) != nil) {
		return "", fault.Field("voice", "invalid_type", "voice must be the name of a voice of %s, such as thalia.", vendor)
	}
	name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), family+"-")
	switch {
	case whole && (name == "" || name == voice || strings.HasPrefix(voice, name+"-") || t.DropParams):
		return t.Model, nil
	case whole:
		return "", fault.Field("voice", driver.CodeUnsupported, "voice: this model speaks with %s alone; send that, or set drop_params on the deployment.", voice)
	case name == "" || strings.ContainsFunc(name, notInNames):
		return "", fault.Field("voice", "invalid_value", "voice must be the name of a voice of %s, such as thalia or thalia-en.", t.Model)
	case !strings.Contains(name, "-"):
		name += "-en"
	}
	return family + "-" + name, nil
}

// divided divides a model's name into its family and its voice; whole is false if it has no voice.
func divided(model string) (family, voice string, whole bool) {
	parts := strings.Split(model, "-")
	n := 1
	if len(parts) > 1 && strings.Trim(parts[1], "0123456789") == "" {
		n = 2
	}
	return strings.Join(parts[:n], "-"), strings.Join(parts[n:], "-"), len(parts) > n
}

func notInNames(c rune) bool { return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') }

// format adds the format of the sound. Deepgram's own options decide.
func (q *query) format(o *splice.Object, t driver.Target) error {
	name := ""
	if raw := o.Get("response_format"); raw != nil && json.Unmarshal(raw, &name) != nil {
		return fault.Field("response_format", "invalid_type", "response_format must be a text.")
	}
	if o.Get("encoding") != nil || o.Get("container") != nil {
		return nil
	}
	switch name {
	case "", "mp3":
		q.add("encoding", "mp3")
	case "aac", "flac":
		q.add("encoding", name)
	case "opus":
		q.add("encoding", "opus")
		q.add("container", "ogg")
	case "wav", "pcm": // samples of 16 bits, as many a second as OpenAI's
		q.add("encoding", "linear16")
		container := "wav"
		if name == "pcm" {
			container = "none"
		}
		q.add("container", container)
		if o.Get("sample_rate") == nil {
			q.add("sample_rate", "24000")
		}
	default:
		if !t.DropParams {
			return fault.Field("response_format", driver.CodeUnsupported, "response_format: %s speaks in mp3, opus, aac, flac, wav and pcm.", vendor)
		}
		q.add("encoding", "mp3")
	}
	return nil
}
