package responses

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Names of events.
const (
	eventCreated        = "response.created"
	eventInProgress     = "response.in_progress"
	eventCompleted      = "response.completed"
	eventIncomplete     = "response.incomplete"
	eventFailed         = "response.failed"
	eventError          = "error"
	eventItemAdded      = "response.output_item.added"
	eventItemDone       = "response.output_item.done"
	eventPartAdded      = "response.content_part.added"
	eventPartDone       = "response.content_part.done"
	eventTextDelta      = "response.output_text.delta"
	eventTextDone       = "response.output_text.done"
	eventAnnotation     = "response.output_text.annotation.added"
	eventRefusalDelta   = "response.refusal.delta"
	eventRefusalDone    = "response.refusal.done"
	eventArguments      = "response.function_call_arguments.delta"
	eventArgumentsDone  = "response.function_call_arguments.done"
	eventInput          = "response.custom_tool_call_input.delta"
	eventInputDone      = "response.custom_tool_call_input.done"
	eventSummaryAdded   = "response.reasoning_summary_part.added"
	eventSummaryDone    = "response.reasoning_summary_part.done"
	eventSummaryDelta   = "response.reasoning_summary_text.delta"
	eventSummaryEnd     = "response.reasoning_summary_text.done"
	eventReasoningDelta = "response.reasoning_text.delta"
	eventReasoningDone  = "response.reasoning_text.done"
)

// writer appends events. It counts them: their numbers have no gaps.
type writer struct {
	next int
}

// open begins an event.
func (w *writer) open(dst []byte, name string) []byte {
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	dst = append(dst, "\ndata: {\"type\":\""...)
	dst = append(dst, name...)
	dst = append(dst, "\",\"sequence_number\":"...)
	dst = strconv.AppendInt(dst, int64(w.next), 10)
	w.next++
	return dst
}

// end ends an event.
func (*writer) end(dst []byte) []byte { return append(dst, "}\n\n"...) }

// number appends a member that is a number.
func number(dst []byte, name string, n int) []byte {
	return strconv.AppendInt(member(dst, name), int64(n), 10)
}

// text appends a member that is a text.
func text(dst []byte, name, value string) []byte {
	dst, _ = jsontext.AppendQuote(member(dst, name), value) // what is not UTF-8 is replaced
	return dst
}

// value appends a member of any type. One that cannot be written is null: only invalid raw
// JSON, against the guarantee of package wire, can cause this.
func value(dst []byte, name string, v any) []byte {
	dst = member(dst, name)
	out, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, out...)
}

// member appends the name of a member.
func member(dst []byte, name string) []byte {
	dst = append(dst, ",\""...)
	dst = append(dst, name...)
	return append(dst, "\":"...)
}
