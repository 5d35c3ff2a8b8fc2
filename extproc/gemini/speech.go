package gemini

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

type speechConfig struct {
	Voice struct {
		Prebuilt struct {
			Name string `json:"voiceName"`
		} `json:"prebuiltVoiceConfig"`
	} `json:"voiceConfig"`
}

// samples is the only form in which models speak: 16 bits at 24 kHz, without a header.
const samples = "pcm16"

// speech writes that the response is to be spoken. A model that speaks writes nothing.
func (b *builder) speech() error {
	if !b.target.Features.Speaks || !slices.Contains(b.in.Modalities, "audio") {
		return nil
	}
	var in struct {
		Voice  string `json:"voice"`
		Format string `json:"format"`
	}
	if b.in.Audio != nil && driver.DecodeLoose(b.in.Audio, &in) != nil {
		return fault.Field("audio", "invalid_type", "audio must be an object with a voice and a format.")
	}
	if in.Format != "" && in.Format != samples && !b.target.DropParams {
		return fault.Field("audio.format", driver.CodeUnsupported, "audio.format: %s speaks in %s only; request that, or set drop_params on the deployment.", vendor, samples)
	}
	b.out.Generation.Modalities = []string{"AUDIO"}
	if in.Voice != "" {
		b.out.Generation.Speech = &speechConfig{}
		b.out.Generation.Speech.Voice.Prebuilt.Name = in.Voice
	}
	return nil
}

// looseMedium is a picture or sound in a response.
type looseMedium struct {
	Type string `json:"mimeType"`
	Data string `json:"data"`
}

// sound is OpenAI's audio object.
type sound struct {
	ID         string `json:"id"`
	Data       string `json:"data"`
	Transcript string `json:"transcript"`
	Expires    int64  `json:"expires_at"`
}

// soundDelta is a piece of it in a stream. Only the first has the id: OpenAI's libraries join texts.
type soundDelta struct {
	ID   string `json:"id,omitzero"`
	Data string `json:"data"`
}

// delta returns the canonical form of a part that is sound, with an id if it is the first; nil if it is something else.
func (m *looseMedium) delta(id string) jsontext.Value {
	if !strings.HasPrefix(m.Type, "audio/") {
		return nil
	}
	out, err := json.Marshal(&soundDelta{id, m.Data}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil
	}
	return out
}

// add adds a piece of sound: each is base64 by itself.
func (s *sound) add(raw jsontext.Value) {
	var more soundDelta
	_ = json.Unmarshal(raw, &more) // delta has written it
	before, err := base64.StdEncoding.DecodeString(s.Data)
	after, also := base64.StdEncoding.DecodeString(more.Data)
	if s.Data += more.Data; err == nil && also == nil {
		s.Data = base64.StdEncoding.EncodeToString(append(before, after...))
	}
	if s.ID == "" {
		s.ID = more.ID
	}
}

// whole returns the canonical form of what the pieces are; nil if there were none.
func (s *sound) whole() jsontext.Value {
	if *s == (sound{}) {
		return nil
	}
	out, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return out
}

// failure is that of a response with something else than sound, which the canonical form has no place for.
func (m *looseMedium) failure() *wire.Failure {
	what := "media"
	if strings.HasPrefix(m.Type, "image/") {
		what = "a picture"
	}
	return &wire.Failure{
		Status: http.StatusOK, Kind: fault.Upstream, Code: "unsupported_content",
		Message: "The model answered with " + what + ", which chats through the gateway do not pass on; use a model that writes text.",
	}
}
