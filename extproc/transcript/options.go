package transcript

import (
	"github.com/go-json-experiment/json"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// format is a form of a transcription.
type format string

const (
	plainJSON format = "json"
	verbose   format = "verbose_json"
	diarized  format = "diarized_json"
	text      format = "text"
	srt       format = "srt"
	vtt       format = "vtt"
)

// Names of members of a request that Read reads.
const (
	Format      = "response_format"
	Granularity = "timestamp_granularities"
)

// Options is what a request wants of a transcription.
type Options struct {
	format          format
	words, segments bool // of verbose: what has times
}

// Read reads the options of a request. The error is a *fault.Error that names the member.
func Read(o *splice.Object) (Options, error) {
	out := Options{format: plainJSON}
	if raw := o.Get(Format); raw != nil {
		if json.Unmarshal(raw, &out.format) != nil || !out.format.known() {
			return Options{}, fault.Field(Format, "invalid_value", "response_format must be json, text, srt, verbose_json, vtt or diarized_json.")
		}
	}
	var list []string
	if raw := o.Get(Granularity); raw != nil && json.Unmarshal(raw, &list) != nil {
		return Options{}, wrongGranularity()
	}
	for _, of := range list {
		switch of {
		case "word":
			out.words = true
		case "segment":
			out.segments = true
		default:
			return Options{}, wrongGranularity()
		}
	}
	out.segments = out.segments || !out.words
	return out, nil
}

func wrongGranularity() error {
	return fault.Field(Granularity, "invalid_value", "timestamp_granularities must be a list of word and segment.")
}

func (f format) known() bool {
	switch f {
	case plainJSON, verbose, diarized, text, srt, vtt:
		return true
	}
	return false
}

// Timed reports whether the form has times.
func (o Options) Timed() bool { return o.format != plainJSON && o.format != text }

// Speakers reports whether the form has speakers.
func (o Options) Speakers() bool { return o.format == diarized }
