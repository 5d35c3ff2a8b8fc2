package driver

import "github.com/modelgateway/modelgateway/extproc/wire"

// API is an interface of providers for chats. A deployment's setting api has its requests sent to this one.
type API string

// The interfaces. InvokeAPI is Bedrock's InvokeModel, with bodies in the language of the model's maker.
const (
	AnyAPI       API = "" // the driver chooses
	ChatAPI      API = "chat"
	ResponsesAPI API = "responses"
	MessagesAPI  API = "messages"
	ConverseAPI  API = "converse"
	InvokeAPI    API = "invoke"
	GeminiAPI    API = "gemini"
)

// APIs lists the interfaces.
func APIs() []API {
	return []API{ChatAPI, ResponsesAPI, MessagesAPI, ConverseAPI, InvokeAPI, GeminiAPI}
}

// Has reports whether an interface takes requests in a language. Mistral and Cohere call theirs chat, as OpenAI does.
func (a API) Has(language wire.Dialect) bool {
	switch a {
	case ChatAPI:
		return language == wire.OpenAI || language == wire.Imported || language == wire.Mistral || language == wire.Cohere
	case ResponsesAPI:
		return language == wire.Responses
	case MessagesAPI:
		return language == wire.Anthropic
	case InvokeAPI:
		return language == wire.Anthropic || language == wire.OpenAI
	case ConverseAPI:
		return language == wire.Converse
	case GeminiAPI:
		return language == wire.Gemini
	case AnyAPI:
	}
	return false
}
