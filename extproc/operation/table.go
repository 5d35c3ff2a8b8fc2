package operation

import (
	"net/url"
	"slices"

	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/anthropic"
	"github.com/modelgateway/modelgateway/extproc/coherecaller"
	"github.com/modelgateway/modelgateway/extproc/contents"
	"github.com/modelgateway/modelgateway/extproc/converse"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/eventstream"
	"github.com/modelgateway/modelgateway/extproc/googlecaller"
	"github.com/modelgateway/modelgateway/extproc/openai"
	"github.com/modelgateway/modelgateway/extproc/responses"
	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
	"github.com/modelgateway/modelgateway/extproc/wire"
)

// readers returns the reader of each operation, by call type.
func readers() map[string]Reader {
	chat := Reader{Scan: splice.Scan, Texts: texts.Chat(), Reply: splice.Reply, Event: splice.Chunk}
	text := Reader{Texts: texts.Inputs(), Reply: splice.List}
	with := func(r Reader, change func(*Reader)) Reader {
		change(&r)
		return r
	}
	return map[string]Reader{
		dataplane.Chat: with(chat, func(r *Reader) { r.Edits = withoutMistral }),
		dataplane.Messages: with(chat, func(r *Reader) {
			r.Texts, r.Reply, r.Event, r.Edits = texts.Messages(), splice.Message, splice.MessageEvent, anthropic.Unmarked
		}),
		dataplane.Responses: with(chat, func(r *Reader) {
			r.Scan, r.Texts, r.Reply, r.Event = splice.ScanModel, texts.Responses(), splice.Response, splice.ResponseEvent
		}),
		dataplane.MessagesCount: {
			Scan: splice.Scan, Texts: texts.Messages(), Reply: counted("input_tokens"), Edits: anthropic.Unmarked, Decode: anthropic.DecodePrompt, Free: true,
		},
		dataplane.ResponsesCount: {
			Scan: splice.ScanModel, Texts: texts.Responses(), Reply: counted("input_tokens"), Decode: responses.Dialect{}.DecodeRequest, Free: true,
		},
		dataplane.Contents: {
			Scan: contents.Scan, Texts: texts.Contents(), Reply: googlecaller.Reply, Event: googlecaller.Event, Edits: googlecaller.WithoutSealed,
		},
		dataplane.ContentsCount: {
			Scan: contents.ScanCount, Texts: texts.Contents(), Reply: counted("totalTokens"), Edits: googlecaller.CountEdits, Decode: googlecaller.DecodeCount, Free: true,
		},
		dataplane.Converse: {
			Scan: converse.Scan, Texts: texts.Converse(), Reply: converse.Reply, Event: converse.Event, Edits: converse.Edits,
		},
		dataplane.ConverseCount: {
			Scan: converse.ScanCount, Texts: texts.Converse(), Reply: counted("inputTokens"), Edits: converse.CountEdits, Decode: converse.DecodeCount, Free: true,
		},
		dataplane.Turns: with(chat, func(r *Reader) {
			r.Texts, r.Reply, r.Event = texts.Turns(), coherecaller.Reply, coherecaller.Event
		}),
		dataplane.Completions: with(chat, func(r *Reader) {
			r.Scan, r.Texts = splice.ScanInputs(splice.Prompt), texts.Completions()
		}),
		dataplane.Embeddings: with(text, func(r *Reader) {
			r.Scan, r.Check, r.Form = splice.ScanInputs(splice.Input), everyVector, vectors
		}),
		dataplane.Moderations: with(text, func(r *Reader) {
			r.Scan, r.Free = splice.ScanInputs(splice.Input), true
		}),
		dataplane.Images: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Units, r.Event = splice.ScanInputs(splice.Prompt), texts.Images(), pictures, splice.ImageEvent
		}),
		dataplane.ImageEdits: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Units, r.Event = splice.ScanForm("image"), texts.Images(), pictures, splice.ImageEvent
		}),
		dataplane.Speech: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Event = splice.ScanInputs(splice.Input), texts.Sound(), splice.AudioEvent
		}),
		dataplane.Transcriptions: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Reply, r.Event = splice.ScanForm("file"), texts.Sound(), splice.Transcript, splice.AudioEvent
		}),
		dataplane.Translations: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Reply = splice.ScanForm("file"), texts.Sound(), splice.Transcript
		}),
		dataplane.Rerank: with(text, func(r *Reader) {
			r.Scan, r.Texts, r.Units = splice.ScanInputs(splice.Query, splice.Documents), texts.Ranks(), searchUnits
		}),
	}
}

// languages returns the languages of callers, by name.
func languages() map[string]dialect.Dialect {
	return map[string]dialect.Dialect{
		string(wire.OpenAI):      openai.Dialect{},
		string(wire.Completions): openai.Completions{},
		string(wire.Anthropic):   anthropic.Dialect{},
		string(wire.Responses):   responses.Dialect{},
		string(wire.Gemini):      googlecaller.Dialect{},
		string(wire.Converse):    converse.Dialect{},
		string(wire.Cohere):      coherecaller.Dialect{},
	}
}

// Table has the operations by path, and by form and path for other forms of their bodies. It does not change.
type Table map[string]*Operation

// NewTable returns all operations.
func NewTable() Table {
	out := make(Table)
	for _, row := range dataplane.Operations() {
		op := &Operation{
			CallType: row.CallType, Language: languages()[row.Language], Endpoint: driver.Endpoint(row.Path),
			Request: row.Request, Response: row.Response, Stream: row.Stream, Streamed: row.Stream + "; charset=utf-8",
			PathStreams: row.Streams, Reader: readers()[row.CallType],
		}
		if row.CallType == dataplane.Converse {
			op.Betas = anthropic.ConverseBetas
		}
		switch {
		case op.PathStreams && op.Language.Name() == wire.Converse:
			op.Endpoint = driver.Converse
			op.Reframe, op.Framed = func() Reframer { return &eventstream.Frames{Events: true} }, row.Framed
		case op.PathStreams:
			op.Endpoint = driver.Contents
			op.Reframe, op.Framed = func() Reframer { return &contents.Array{} }, row.Response+"; charset=utf-8"
		}
		for _, path := range slices.Concat([]string{row.Path}, row.Paths(), row.Aliases()) {
			out[path] = op
		}
		if row.Version2 { // its clients are Cohere's
			theirs := *op
			theirs.Caller = coherecaller.Dialect{}
			out["/v2"+row.Path] = &theirs
			for _, path := range row.Aliases() {
				out[path] = &theirs
			}
		}
	}
	out.addForms()
	return out
}

// Match is what a path asks for.
type Match struct {
	*Operation        // nil if no operation has the path
	Model      string // that the path names; empty if it names none
}

// At returns the operation of a path.
func (t Table) At(path string) Match {
	if op := t[path]; op != nil && op.pathIsExact() {
		return Match{Operation: op}
	}
	f, ok := dataplane.Find(path)
	if !ok {
		return Match{}
	}
	if text, err := url.PathUnescape(f.Model); err == nil {
		f.Model = text
	}
	return Match{t[f.Form+f.Path], f.Model}
}

// pathIsExact reports whether the operation has exact paths. The others have the model in them.
func (o *Operation) pathIsExact() bool {
	return o.Language.Name() != wire.Gemini && o.Language.Name() != wire.Converse && o.Into == nil
}
