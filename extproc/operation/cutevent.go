package operation

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/dataplane"
	"github.com/modelgateway/modelgateway/extproc/dialect"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// Separators of CutEvents.
const (
	endOfField  = "\x1f"
	endOfRecord = "\x1e"
)

// CutEvents returns the last events of streams that their providers have reset, by the caller's
// language. Envoy sends them, because it first resets its stream to this process. The form is that
// of the filter's configuration in envoy/module: for each operation the end of its path, the lines
// by which the last piece of a complete response is recognized, and the event.
func CutEvents() string {
	var b strings.Builder
	for _, row := range dataplane.Operations() {
		if row.Stream == "" {
			continue
		}
		event := languages()[row.Language].Stream(dialect.Meta{}).Fail(nil, CutOff())
		for _, end := range row.PathEnds() {
			for _, field := range []string{end, strings.Join(lastLines(driver.Endpoint(row.Path)), "|"), string(event)} {
				b.WriteString(field + endOfField)
			}
			b.WriteString(endOfRecord)
		}
	}
	return b.String()
}

// lastLines returns lines of the last event of a stream: of a complete response, or of an error. One that ends with an
// empty line is the end of the stream.
func lastLines(e driver.Endpoint) []string {
	const failed = `data: {"error":`
	switch e { //nolint:exhaustive // the others are not streams of events
	case driver.Messages:
		return []string{"event: message_stop\n", "event: error\n"}
	case driver.Responses:
		return []string{"event: response.completed\n", "event: response.incomplete\n", "event: response.failed\n"}
	case "/streamGenerateContent":
		return []string{`data: {"usageMetadata":`, failed}
	case driver.Turns:
		return []string{"event: message-end\n"}
	case driver.Images:
		return []string{"event: image_generation.completed\n", failed}
	case driver.ImageEdits:
		return []string{"event: image_edit.completed\n", failed}
	case driver.Transcriptions:
		return []string{`data: {"type":"transcript.text.done"`, failed}
	case driver.Speech:
		return []string{`data: {"type":"speech.audio.done"`, failed}
	}
	return []string{"data: [DONE]\n\n", failed}
}

// CodeCut is the code of CutOff.
const CodeCut = "upstream_cut"

// CutOff returns the error of a stream that its provider ended too early.
func CutOff() *fault.Error {
	return &fault.Error{Kind: fault.Upstream, Code: CodeCut, Detail: "The provider broke off in the middle of its answer."}
}
