package operation

import "github.com/modelgateway/modelgateway/extproc/splice"

// AsEvents returns a whole transcription as the stream that the caller requested: one event with the text, and the last
// one. whole is JSON; not ok for anything else.
func (o *Operation) AsEvents(request *splice.Request, whole []byte) ([]byte, bool) {
	text := splice.Lookup(whole, "text")
	format, err := request.Text(splice.ResponseFormat)
	if !o.Hears() || o.Stream == "" || !request.Stream || text == nil || err != nil || format != "" && format != "json" {
		return nil, false
	}
	out := append(append([]byte(`data: {"type":"transcript.text.delta","delta":`), text...), "}\n\n"...)
	out = append(append(out, `data: {"type":"transcript.text.done","text":`...), text...)
	return append(out, "}\n\n"...), true // events report tokens, and no seconds
}
