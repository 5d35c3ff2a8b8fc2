package bedrock

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// route is how a model is spoken to, if its name says so.
type route string

// The routes. They are prefixes of models, most of them LiteLLM's.
const (
	routeAny       route = ""
	routeConverse  route = "converse"
	routeInvoke    route = "invoke"
	routeOpenAI    route = "openai"    // chat completions
	routeResponses route = "responses" // not LiteLLM's
)

// take makes the interface that a deployment's settings name the route. It returns false if the model's name has
// another one.
func (n *name) take(api driver.API) bool {
	var of route
	switch api {
	case driver.ChatAPI:
		of = routeOpenAI
	case driver.ResponsesAPI:
		of = routeResponses
	case driver.ConverseAPI:
		of = routeConverse
	case driver.InvokeAPI, driver.MessagesAPI: // Claude's messages are bodies of InvokeModel
		of = routeInvoke
	case driver.GeminiAPI:
		return false
	case driver.AnyAPI:
		return true
	}
	if n.route != routeAny && n.route != of {
		return false
	}
	n.route = of
	return true
}

// name is the name of a model: Bedrock's id or ARN, and what LiteLLM's spelling says before it.
type name struct {
	route  route
	region string // of the ARN, or before the id; empty if neither says it
	spec   string // family of a model whose id does not tell it, such as llama/arn:aws:bedrock:…
	id     string
}

// codeModel is the code of errors about names of models.
const codeModel = "invalid_model"

// parse reads the name of a model. A star stands for the rest of a name, in a deployment of many models.
func parse(model string) (name, error) {
	var n name
	rest := strings.TrimPrefix(model, "bedrock/")
	for !isARN(rest) {
		head, tail, ok := strings.Cut(rest, "/")
		if !ok {
			break
		}
		switch {
		case head == "converse" || head == "converse_like":
			n.route = routeConverse
		case head == "invoke":
			n.route = routeInvoke
		case head == "openai" || head == "chat_completions":
			n.route = routeOpenAI
		case head == "responses":
			n.route = routeResponses
		case isRegion(head):
			n.region = head
		case strings.HasSuffix(head, "-month-commitment"): // part of the name of a price
		case isSpec(head):
			n.spec = head
		default:
			return n, fault.New(fault.Unsupported, codeModel, "The model %s begins with %s/, which is neither a region nor a way to reach models of %s; write the model's id or its ARN.", fault.Quote(model), head, vendor)
		}
		rest = tail
	}
	n.id = rest
	if !isID(rest) {
		return n, fault.New(fault.Unsupported, codeModel, "The model %s is not the id of a model of %s, which has letters, digits, dots, colons, - and _.", fault.Quote(model), vendor)
	}
	if !isARN(rest) {
		return n, nil
	}
	if n.route == routeOpenAI && n.spec == "" {
		n.spec = "gpt-oss"
	}
	a, err := parseARN(rest)
	if err != nil {
		return n, err
	}
	if n.region != "" && a.region != "" && n.region != a.region {
		return n, fault.New(fault.Unsupported, codeModel, "The model %s has the region %s before an ARN of %s; remove the region.", fault.Quote(model), n.region, a.region)
	}
	if a.region != "" {
		n.region = a.region
	}
	return n, nil
}

// imported reports whether a model is one that the account has imported. Some have OpenAI's language.
func (n *name) imported() bool {
	a, err := parseARN(n.id)
	return err == nil && strings.HasPrefix(a.resource, "imported-model/")
}

func isARN(id string) bool { return strings.HasPrefix(id, "arn:") }

// isID reports whether an id has only the characters of ids and ARNs, so that it is one segment of a path when it is
// escaped. Only ARNs have slashes.
func isID(id string) bool {
	slashes := isARN(id)
	return id != "" && strings.Trim(id, ".") != "" && !strings.Contains(id, "..") && !strings.ContainsFunc(id, func(r rune) bool {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == ':', r == '-', r == '_', r == '*':
			return false
		}
		return r != '/' || !slashes
	})
}

// arn is an Amazon resource name.
type arn struct {
	partition, service, region, account, resource string
}

// parseARN reads the ARN of a model, an inference profile or another thing that takes chats.
func parseARN(text string) (arn, error) {
	parts := strings.SplitN(text, ":", 6)
	if len(parts) != 6 || parts[5] == "" {
		return arn{}, fault.New(fault.Unsupported, codeModel, "%s is not a complete ARN; it has the form arn:aws:bedrock:REGION:ACCOUNT:RESOURCE.", fault.Quote(text))
	}
	a := arn{parts[1], parts[2], parts[3], parts[4], parts[5]}
	switch {
	case a.service != "bedrock" && a.service != "sagemaker":
		return a, fault.New(fault.Unsupported, codeModel, "%s is an ARN of the service %s; a model's is of bedrock.", fault.Quote(text), fault.Quote(a.service))
	case a.region == "" || !isRegion(a.region):
		return a, fault.New(fault.Unsupported, codeModel, "%s is an ARN without a region of AWS.", fault.Quote(text))
	case partitionOf(a.region).name != a.partition:
		return a, fault.New(fault.Unsupported, codeModel, "%s is an ARN of the partition %s, but its region is one of %s.", fault.Quote(text), fault.Quote(a.partition), partitionOf(a.region).name)
	}
	return a, nil
}
