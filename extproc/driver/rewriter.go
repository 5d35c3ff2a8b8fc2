package driver

// Rewriter is a Driver whose provider has a language of its own for endpoints other than chats. Their
// requests and responses have no canonical form: a body is rewritten from OpenAI's form and back. It serves
// those for which Serves returns another language than OpenAI's. Implementations are safe for
// concurrent use and do not block.
type Rewriter interface {
	// Rewrite returns the provider's request. The error is a *fault.Error that names the member of
	// the caller's request that the provider cannot take.
	Rewrite(e Endpoint, body []byte, t Target) ([]byte, error)
	// Restore returns a response that came with status 200 in OpenAI's form, without the usage if the provider
	// reports none. model is the provider's name of the model. The error is a *wire.Failure.
	Restore(e Endpoint, body []byte, model string) ([]byte, error)
}
