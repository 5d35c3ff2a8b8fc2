package bedrock

// Counted is a request for a count of tokens: of a body of InvokeModel, or of a chat.
type Counted struct {
	Input struct {
		Invoke struct {
			Body []byte `json:"body"`
		} `json:"invokeModel"`
		Converse *Request `json:"converse"`
	} `json:"input"`
}

// Problem is what Bedrock would say of a chat whose tokens are counted, empty if it takes it.
func (q *Request) Problem() string { return q.check() }
