package openaitest

// correction is an error of OpenAI's document: what its API does in truth.
type correction struct {
	at     string // the wrong schema's place in the document
	to     string // the right schema
	reason string

	// A body shows that the correction is needed: the document judges it wrongly.
	schema string // whose example it is
	body   string
	valid  bool // in truth
}

// completionPiece is a schema that the document lacks: of a piece of a completion.
const completionPiece = "CreateCompletionStreamResponse"

// corrections lists the errors of the document.
func corrections() []correction {
	return []correction{
		{
			at: "/components/schemas/CompoundFilter", to: `{"type":"object","additionalProperties":false,"required":["type","filters"],"properties":{
				"type":{"type":"string","enum":["and","or"]},
				"filters":{"type":"array","items":{"anyOf":[{"$ref":"#/components/schemas/ComparisonFilter"},{"$ref":"#/components/schemas/CompoundFilter"}]}}}}`,
			reason: "it refers to itself with keywords of JSON Schema 2019-09, which the version of OpenAPI 3.1 does not have: no schema that uses it compiles",
			schema: "CompoundFilter", body: `{"type":"and","filters":[{"type":"or","filters":[]}]}`, valid: true,
		},
		{
			at: "/components/schemas/Embedding/properties/embedding", to: `{"anyOf":[{"type":"array","items":{"type":"number"}},{"type":"string"}]}`,
			reason: "embeddings in base64 are texts",
			schema: "Embedding", body: `{"object":"embedding","index":0,"embedding":"AAAAPw=="}`, valid: true,
		},
		{
			at: "/components/schemas/Response/allOf/2/properties/usage", to: `{"anyOf":[{"$ref":"#/components/schemas/ResponseUsage"},{"type":"null"}]}`,
			reason: "a response that is in progress has no usage yet; OpenAI's own examples have null",
			schema: "Response", body: `{"id":"resp_1","object":"response","created_at":1,"status":"in_progress","model":"gpt-5","error":null,"incomplete_details":null,
				"instructions":null,"tools":[],"output":[],"parallel_tool_calls":true,"metadata":{},"tool_choice":"auto","temperature":1,"top_p":1,"usage":null}`, valid: true,
		},
		{
			at: "/components/schemas/ModelResponseProperties/properties/user", to: `{"type":["string","null"]}`,
			reason: "a response repeats the user; without one it has null, as OpenAI's own examples show",
			schema: "ModelResponseProperties", body: `{"user":null}`, valid: true,
		},
		{
			at: "/components/schemas/ResponseFunctionCallArgumentsDoneEvent/required", to: `["type","item_id","output_index","arguments","sequence_number"]`,
			reason: "the event has no name: neither the types of OpenAI's SDKs nor its example have one",
			schema: "ResponseFunctionCallArgumentsDoneEvent", valid: true,
			body: `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{}","sequence_number":3}`,
		},
		{
			at: "/components/schemas/Item/anyOf/11", to: `{"type":"object","required":["type","summary"],"properties":{
				"type":{"type":"string","enum":["reasoning"]},"id":{"type":"string"},"encrypted_content":{"type":["string","null"]},
				"summary":{"type":"array","items":{"$ref":"#/components/schemas/Summary"}},
				"content":{"type":"array","items":{"$ref":"#/components/schemas/ReasoningTextContent"}},
				"status":{"type":"string","enum":["in_progress","completed","incomplete"]}}}`,
			reason: "reasoning that was not stored is sent back without its id, as OpenAI's Codex does",
			schema: "Item", body: `{"type":"reasoning","summary":[],"encrypted_content":"gAAA"}`, valid: true,
		},
		{
			at: "/components/schemas/" + completionPiece, to: `{"type":"object","required":["id","object","created","model","choices"],"properties":{
				"id":{"type":"string"},"object":{"enum":["text_completion"]},"created":{"type":"integer"},"model":{"type":"string"},"system_fingerprint":{"type":"string"},
				"choices":{"type":"array","items":{"type":"object","required":["finish_reason","index","logprobs","text"],"properties":{
					"finish_reason":{"enum":["stop","length","content_filter",null]},"index":{"type":"integer"},"text":{"type":"string"},
					"logprobs":{"$ref":"#/components/schemas/CreateCompletionResponse/properties/choices/items/properties/logprobs"}}}},
				"usage":{"anyOf":[{"$ref":"#/components/schemas/CompletionUsage"},{"type":"null"}]}}}`,
			reason: "it has the pieces of a streamed completion only as whole responses; before the end, their reason to finish and their usage are null",
			schema: completionPiece, valid: true,
			body: `{"id":"cmpl-1","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"a","logprobs":null,"finish_reason":null}],"usage":null}`,
		},
	}
}
