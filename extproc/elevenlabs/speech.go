package elevenlabs

import (
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// speech writes a request for speech.
func speech(o *splice.Object, t driver.Target) (driver.Rewritten, error) {
	voice, err := readVoice(o)
	if err != nil {
		return driver.Rewritten{}, err
	}
	input := jsontext.Value(o.Get("input"))
	if input.Kind() != '"' {
		return driver.Rewritten{}, fault.Field("input", "invalid_type", "input must be a text.")
	}
	streamed := string(o.Get("stream_format")) == `"audio"`
	if streamed {
		o.Remove("stream_format")
	}
	if err := driver.RejectMembers(o, t, vendor, "instructions", "stream_format"); err != nil {
		return driver.Rewritten{}, err
	}
	query, err := formatOf(o, t)
	if err != nil {
		return driver.Rewritten{}, err
	}
	for _, name := range [...]string{"enable_logging", "optimize_streaming_latency"} {
		if value := o.Get(name); value != nil {
			query.Set(name, strings.Trim(string(value), `"`))
		}
		o.Remove(name)
	}
	if err := speed(o); err != nil {
		return driver.Rewritten{}, err
	}
	for _, name := range [...]string{"input", "model", "voice", "user"} {
		o.Remove(name)
	}
	o.Set("text", input)
	o.Set("model_id", splice.Quote(nil, t.Model))
	place := "/" + url.PathEscape(voice)
	if streamed && !strings.HasPrefix(query.Get("output_format"), "wav") { // a stream has no WAV
		place += "/stream"
	}
	return driver.Rewritten{Body: o.Append(nil), Place: place + "?" + query.Encode()}, nil
}

// readVoice returns the id of the voice, which is a name or an object with an id.
func readVoice(o *splice.Object) (string, error) {
	raw := jsontext.Value(o.Get("voice"))
	if raw.Kind() == '{' {
		raw = splice.Lookup(raw, "id")
	}
	name := ""
	if raw.Kind() != '"' || json.Unmarshal(raw, &name) != nil || strings.Trim(name, ". ") == "" {
		return "", fault.Field("voice", "invalid_value", "voice must be the id of a voice of %s, or one of OpenAI's names: alloy, ash, coral, onyx, sage, verse.", vendor)
	}
	return voiceOf(strings.TrimSpace(name)), nil
}

// formatOf returns the query with the format of the sound, and removes its members. ElevenLabs's own name of a format decides.
func formatOf(o *splice.Object, t driver.Target) (url.Values, error) {
	own, name := "", ""
	for member, to := range map[string]*string{"output_format": &own, "response_format": &name} {
		if raw := o.Get(member); raw != nil && json.Unmarshal(raw, to) != nil {
			return nil, fault.Field(member, "invalid_type", "%s must be a text.", member)
		}
		o.Remove(member)
	}
	if own != "" {
		return url.Values{"output_format": {own}}, nil
	}
	switch name {
	case "", "mp3":
		own = "mp3_44100_128"
	case "opus":
		own = "opus_48000_128"
	case "pcm": // the samples a second of OpenAI's
		own = "pcm_24000"
	case "wav":
		own = "wav_24000"
	default:
		if !strings.Contains(name, "_") { // one of OpenAI's, or unknown
			if !t.DropParams {
				return nil, fault.Field("response_format", driver.CodeUnsupported, "response_format: %s speaks in mp3, opus, wav and pcm, and in its own formats such as mp3_22050_32.", vendor)
			}
			name = "mp3_44100_128"
		}
		own = name
	}
	return url.Values{"output_format": {own}}, nil
}

// speed writes the speed into the settings of the voice.
func speed(o *splice.Object) error {
	value := o.Get("speed")
	o.Remove("speed")
	if value == nil {
		return nil
	}
	raw := jsontext.Value(o.Get("voice_settings"))
	if raw == nil {
		raw = jsontext.Value("{}")
	}
	if raw.Kind() != '{' {
		return fault.Field("voice_settings", "invalid_type", "voice_settings must be an object.")
	}
	settings := splice.ReadObject(raw)
	if settings.Get("speed") == nil {
		settings.Set("speed", value)
	}
	o.Set("voice_settings", settings.Append(nil))
	return nil
}
