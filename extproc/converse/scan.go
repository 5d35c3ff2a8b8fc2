package converse

import (
	"iter"
	"strconv"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Scan reads the body of a request, which must have messages. Its model and whether it streams are those of the path: PathModel and
// Streams. Otherwise it is like splice.Scan.
func Scan(body []byte, r *splice.Request) error {
	if err := splice.Scan(body, r); err != nil {
		return err
	}
	r.OwnModel, r.Stream, r.IncludeUsage, r.MaxTokens = true, r.Streams, true, 0
	return chat(body, whole(body), "", r)
}

// ScanCount is Scan for a request for the number of tokens of a chat.
func ScanCount(body []byte, r *splice.Request) error {
	if err := splice.ScanModel(body, r); err != nil {
		return err
	}
	r.OwnModel, r.Stream, r.IncludeUsage, r.MaxTokens, r.MessageCount = true, false, true, 0, 0
	input, err := member(body, whole(body), "input", "")
	if err != nil {
		return err
	}
	if input.Empty() || body[input.Off] != '{' {
		return noInput()
	}
	at, err := member(body, input, "converse", "input.")
	if err != nil {
		return err
	}
	if at.Empty() || body[at.Off] != '{' {
		return noInput()
	}
	if err := chat(body, at, "input.converse.", r); err != nil {
		return err
	}
	list, err := member(body, at, "messages", "input.converse.")
	if err != nil {
		return err
	}
	for range items(body, list) {
		r.MessageCount++
	}
	if r.MessageCount == 0 {
		return fault.Field("input.converse.messages", "missing_required_parameter", "input.converse.messages must have at least one message.")
	}
	return nil
}

func noInput() error {
	return fault.Field("input", "missing_required_parameter", "input must have converse, or invokeModel with the body of a request.")
}

func whole(body []byte) splice.Span { return splice.Span{End: len(body)} }

// items yields the places in body of the elements of the array at a place; none of another value.
func items(body []byte, array splice.Span) iter.Seq[splice.Span] {
	return func(yield func(splice.Span) bool) {
		for one := range splice.Elements(array.Of(body)) {
			if !yield(splice.Span{Off: array.Off + one.Off, End: array.Off + one.End}) {
				return
			}
		}
	}
}

// member returns the place of the value of an object's member; an empty one if it is missing or null. A name that occurs
// twice is rejected, since readers differ in which one they take. prefix is that of the field in errors.
func member(body []byte, at splice.Span, name, prefix string) (out splice.Span, err error) {
	for other, value := range splice.Members(body, at) {
		switch {
		case string(other) != name:
		case !out.Empty():
			return out, fault.Field(prefix+name, "duplicate_parameter", "%s occurs twice. Send it once.", prefix+name)
		default:
			out = value
		}
	}
	if !out.Empty() && body[out.Off] == 'n' {
		return splice.Span{}, nil
	}
	return out, nil
}

// chat reads a chat, whose fields stand behind a prefix in errors.
func chat(body []byte, at splice.Span, prefix string, r *splice.Request) error {
	for name := range splice.Members(body, at) {
		if known := resembles(string(name)); known != "" {
			return fault.Field(prefix+known, "duplicate_parameter", "%s is written in another letter case. Write it as AWS does.", prefix+known)
		}
	}
	config, err := member(body, at, "inferenceConfig", prefix)
	if err != nil {
		return err
	}
	if err := limit(body, config, prefix+"inferenceConfig.", r); err != nil {
		return err
	}
	tools, err := member(body, at, "toolConfig", prefix)
	if err != nil {
		return err
	}
	list, err := member(body, tools, "tools", prefix+"toolConfig.")
	if err != nil {
		return err
	}
	for range items(body, list) {
		r.Tools = true
		break
	}
	if list, err = member(body, at, "messages", prefix); err != nil {
		return err
	}
	i := 0
	for one := range items(body, list) {
		if err := storedIn(body, one, prefix+"messages["+strconv.Itoa(i)+"]"); err != nil {
			return err
		}
		i++
	}
	return nil
}

// limit reads inferenceConfig.maxTokens.
func limit(body []byte, config splice.Span, prefix string, r *splice.Request) error {
	at, err := member(body, config, "maxTokens", prefix)
	if err != nil || at.Empty() {
		return err
	}
	n, ok := splice.Whole(at.Of(body), splice.MaxTokensLimit)
	switch {
	case !ok:
		return fault.Field(prefix+"maxTokens", "invalid_type", "%smaxTokens must be a whole number.", prefix)
	case n < 1:
		return fault.Field(prefix+"maxTokens", "invalid_value", "%smaxTokens must be at least 1.", prefix)
	}
	r.MaxTokens = n
	return nil
}

// storedIn rejects a message whose blocks name an object in S3, by themselves or in the result of a tool: bytes that pass are
// read by nothing else, and all callers share the account that would read it.
func storedIn(body []byte, of splice.Span, param string) error {
	for name, list := range splice.Members(body, of) {
		if string(name) != "content" {
			continue
		}
		j := 0
		for block := range items(body, list) {
			if err := storedBlock(body, block, param+".content["+strconv.Itoa(j)+"]"); err != nil {
				return err
			}
			j++
		}
	}
	return nil
}

// storedBlock rejects a block that names an object in S3.
func storedBlock(body []byte, block splice.Span, param string) error {
	for name, value := range splice.Members(body, block) {
		kind := string(name)
		switch kind {
		case "toolResult":
			if err := storedIn(body, value, param+".toolResult"); err != nil {
				return err
			}
			continue
		case "text":
			continue
		}
		for inner, source := range splice.Members(body, value) {
			if string(inner) != "source" {
				continue
			}
			for where, at := range splice.Members(body, source) {
				if string(where) == "s3Location" && body[at.Off] != 'n' {
					return stored(param + "." + kind + ".source.s3Location")
				}
			}
		}
	}
	return nil
}
