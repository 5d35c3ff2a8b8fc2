package coherecaller

// delta is what an event adds to the message.
type delta[T any] struct {
	Message T `json:"message"`
}

func deltaOf[T any](message T) delta[T] { return delta[T]{message} }

type messageStart struct {
	ID    string              `json:"id"`
	Type  string              `json:"type"`
	Delta delta[startMessage] `json:"delta"`
}

type startMessage struct {
	Role string `json:"role"`
}

type contentStart struct {
	Type  string                `json:"type"`
	Index int                   `json:"index"`
	Delta delta[contentMessage] `json:"delta"`
}

type contentMessage struct {
	Content answerContent `json:"content"`
}

type callStart struct {
	Type  string             `json:"type"`
	Index int                `json:"index"`
	Delta delta[callMessage] `json:"delta"`
}

type callMessage struct {
	Calls answerCall `json:"tool_calls"`
}

type citationStart struct {
	Type  string                 `json:"type"`
	Index int                    `json:"index"`
	Delta delta[citationMessage] `json:"delta"`
}

type citationMessage struct {
	Citations answerCitation `json:"citations"`
}

// ended ends a part of the content, a call or a citation.
type ended struct {
	Type  string `json:"type"`
	Index int    `json:"index"`
}

type messageEnd struct {
	Type  string   `json:"type"`
	ID    string   `json:"id,omitzero"`
	Delta endDelta `json:"delta"`
}

type endDelta struct {
	Error  string       `json:"error,omitzero"`
	Finish string       `json:"finish_reason"`
	Usage  *answerUsage `json:"usage,omitzero"`
}

// event appends one event.
func event(dst []byte, name string, v any) []byte {
	dst = append(append(dst, "event: "...), name...)
	dst = appendJSON(append(dst, "\ndata: "...), v)
	return append(dst, "\n\n"...)
}
