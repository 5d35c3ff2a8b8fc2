package gateway

import "github.com/modelgateway/modelgateway/extproc/tokens"

// countMessages estimates the tokens of messages, each a role and a text.
func (g *gateway) countMessages(model string, messages [][2]string) int64 {
	all := make([]tokens.Message, len(messages))
	for i, m := range messages {
		all[i] = tokens.Message{Role: m[0], Content: m[1]}
	}
	return g.tokens.CountMessages(model, all)
}
