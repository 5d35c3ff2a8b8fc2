package guard

import (
	"bytes"
	"strconv"

	"github.com/modelgateway/modelgateway/extproc/splice"
	"github.com/modelgateway/modelgateway/extproc/texts"
)

// template is an event that can bring more of a text: the last event that brought some of it, without its texts.
type template struct {
	raw  []byte // the whole event
	at   int    // in raw, where the text goes
	bare bool   // the event says nothing else
}

// read makes the template from an event with a text. An event that says something else, such as the id
// of a call, serves only until there is another: it would say so twice.
func (t *template) read(e *splice.Event, x *texts.Text, all []texts.Text, flow *texts.Flow) {
	if t.bare && !flow.Bare {
		return
	}
	if t.bare = flow.Bare; !t.bare {
		t.build(e, x)
		return
	}
	if e.DataAt >= 0 {
		t.raw = append(t.raw[:0], e.Raw[:e.DataAt]...)
	} else { // data of several lines
		t.raw = append(t.raw[:0], "data: "...)
	}
	from := 0
	for i := range all {
		o := &all[i]
		if o.Kind == texts.ToolName || o.JSON && o.Kind != texts.Logprobs {
			continue
		}
		t.raw = append(t.raw, e.Data[from:o.Off]...)
		if o.Off == x.Off {
			t.at = len(t.raw)
		}
		if o.JSON {
			t.raw = append(t.raw, without(o.Of(e.Data))...)
		}
		from = o.End
	}
	t.raw = append(append(t.raw, e.Data[from:]...), "\n\n"...)
}

// build makes a chunk of OpenAI's chats or completions, or an event of Gemini's, that brings nothing but the text.
func (t *template) build(e *splice.Event, x *texts.Text) {
	list, usage := "choices", "usage"
	choice := `[{"index":` + strconv.Itoa(x.Choice)
	before, after := `,"delta":{"`+member(e.Data, x.Off)+`":"`, `"},"finish_reason":null}]`
	switch {
	case x.Kind == texts.Arguments:
		before, after = `,"delta":{"tool_calls":[{"index":`+strconv.Itoa(x.Item)+`,"function":{"arguments":"`, `"}}]},"finish_reason":null}]`
	case member(e.Data, x.Off) == "text":
		before, after = `,"text":"`, `","logprobs":null,"finish_reason":null}]`
	}
	o := splice.ReadObject(e.Data)
	if o.Get("candidates") != nil {
		list, usage = "candidates", "usageMetadata"
		before, after = `,"content":{"parts":[{"text":"`, `"}],"role":"model"}}]`
		if x.Kind == texts.Reasoning {
			after = `","thought":true}],"role":"model"}}]`
		}
	}
	o.Remove(usage)
	const mark = "\x00"
	o.Set(list, []byte(choice+before+mark+after))
	chunk := o.Append(nil)
	at := bytes.IndexByte(chunk, 0)
	t.raw = append(append(t.raw[:0], "data: "...), chunk[:at]...)
	t.at = len(t.raw)
	t.raw = append(append(t.raw, chunk[at+1:]...), "\n\n"...)
}

// opening is an event that begins a text and may have the first of it, and the event that brings more of it.
type opening struct {
	event, object, member string
	kind                  texts.Kind
	delta                 string // the type of the event with more
	before, after         string // around the text in it
}

func openings() []opening {
	const part = "response.content_part.added"
	return []opening{
		{"content_block_start", "content_block", "text", texts.Content, "content_block_delta", `"delta":{"type":"text_delta","text":"`, `"}`},
		{"content_block_start", "content_block", "thinking", texts.Reasoning, "content_block_delta", `"delta":{"type":"thinking_delta","thinking":"`, `"}`},
		{part, "part", "text", texts.Content, "response.output_text.delta", `"logprobs":[],"delta":"`, `"`},
		{part, "part", "text", texts.Reasoning, "response.reasoning_text.delta", `"delta":"`, `"`},
		{part, "part", "refusal", texts.Refusal, "response.refusal.delta", `"delta":"`, `"`},
		{"response.reasoning_summary_part.added", "part", "text", texts.Reasoning, "response.reasoning_summary_text.delta", `"delta":"`, `"`},
	}
}

// open makes the template for a text that an event begins, and reports whether it is such an event. What it
// makes serves until another event brings more.
func (t *template) open(e *splice.Event, x *texts.Text) bool {
	typed := string(splice.Lookup(e.Data, "type"))
	for _, o := range openings() {
		if typed != `"`+o.event+`"` || x.Kind != o.kind || string(splice.Lookup(e.Data, o.object, o.member)) != `"`+string(x.Of(e.Data))+`"` {
			continue
		}
		t.raw, t.bare = append(t.raw[:0], "event: "+o.delta+"\ndata: "+`{"type":"`+o.delta+`",`...), false
		for _, name := range [...]string{"sequence_number", "item_id", "output_index", "content_index", "summary_index", "index"} {
			if v := splice.Lookup(e.Data, name); v != nil {
				t.raw = append(append(append(t.raw, `"`+name+`":`...), v...), ',')
			}
		}
		t.raw = append(t.raw, o.before...)
		t.at = len(t.raw)
		t.raw = append(t.raw, o.after+"}\n\n"...)
		return true
	}
	return false
}

// member returns the name of the member whose value, a string, begins at off.
func member(data []byte, off int) string {
	head := bytes.TrimRight(data[:max(off-1, 0)], " \t\r\n:")
	head = bytes.TrimSuffix(head, []byte{'"'})
	return string(head[bytes.LastIndexByte(head, '"')+1:])
}

// append appends an event that brings text.
func (t *template) append(dst, text []byte) []byte {
	dst = append(dst, t.raw[:t.at]...)
	dst = append(dst, inside(text)...)
	return append(dst, t.raw[t.at:]...)
}
