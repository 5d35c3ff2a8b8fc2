package texts

import (
	"iter"

	"github.com/modelgateway/modelgateway/extproc/splice"
)

// Unread are the top-level members of a request that no model reads. All others count as read,
// unknown ones too.
const Unread = splice.Extensions | 1<<splice.Model | 1<<splice.Stream | 1<<splice.StreamOptions | 1<<splice.N |
	1<<splice.MaxTokens | 1<<splice.MaxCompletionTokens | 1<<splice.MaxOutputTokens | 1<<splice.EncodingFormat | 1<<splice.Temperature | 1<<splice.TopP |
	1<<splice.User | 1<<splice.ServiceTier | 1<<splice.Metadata | 1<<splice.SafetyIdentifier |
	1<<splice.PreviousResponse | 1<<splice.Conversation

// Reader finds the texts in the bodies of an operation. The zero value finds none.
type Reader struct{ request, answer, event node }

// Request returns the texts of a request.
func (r Reader) Request(body []byte) iter.Seq[Text] { return walk(body, r.request, false) }

// Answer returns the texts of a whole answer.
func (r Reader) Answer(body []byte) iter.Seq[Text] { return walk(body, r.answer, true) }

// Event returns the texts of the data of one event of a stream. The texts of a stream's events with the
// same Kind, Choice, Item and Part, joined without those that Repeat, are that text of the whole answer.
func (r Reader) Event(data []byte) iter.Seq[Text] { return walk(data, r.event, true) }

func walk(body []byte, root node, answer bool) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		i := space(body, 0)
		if root == leaf || i >= len(body) || body[i] != '{' {
			return
		}
		w := walker{b: body, yield: yield, answer: answer}
		w.object(i, root)
	}
}

// node is a kind of object, of one language. The members of a leaf are not looked at.
type node uint16

const leaf node = 0

// The nodes of each language begin at one of these.
const (
	languageNodes      = 32 // at most, of one language
	commonNodes   node = languageNodes * iota
	chatNodes
	messagesNodes
	responsesNodes
	inputNodes
	listNodes
	contentsNodes
	converseNodes
	turnsNodes
)

// rule says what the value of a member is. A string is a text of the kind. Of an array that holds for
// each element, and an object is of the node in. If in is leaf, an object or array is one JSON text.
// Numbers, booleans and null are no texts. The zero rule skips the value.
type rule struct {
	kind   Kind
	in     node
	role   Role // of the texts in the value; NoRole keeps that of the object
	repeat bool
}

// walker walks one body.
type walker struct {
	b      []byte
	yield  func(Text) bool
	answer bool // the body is an answer or an event of one
	done   bool // yield wants no more
	at     context
	index  int  // of the element that is an object, in its array
	twice  bool // the message has had its reasoning
}

// context is what an object says of the texts in it.
type context struct {
	role               Role
	said               Kind // of the parts of content
	plain              bool // of a source: its data is text
	repeat             bool
	choice, item, part int
}

// give yields the text at [from, end).
func (w *walker) give(from, end int, r rule, json bool) {
	if w.done {
		return
	}
	a := &w.at
	t := Text{
		Span: splice.Span{Off: from, End: end}, Kind: r.kind, Role: a.role, JSON: json, Repeat: a.repeat || r.repeat,
		Choice: a.choice, Item: a.item, Part: a.part,
	}
	if r.role != NoRole {
		t.Role = r.role
	}
	w.done = !w.yield(t)
}

// value reads the value at i, and returns the index after it.
func (w *walker) value(i int, r rule) int {
	switch {
	case i >= len(w.b) || w.done:
		return len(w.b)
	case r == rule{}:
		return skip(w.b, i)
	}
	switch c := w.b[i]; {
	case c == '"':
		end, _ := str(w.b, i)
		w.give(i+1, max(end-1, i+1), r, false)
		return end
	case c != '{' && c != '[':
		return skip(w.b, i)
	case r.in == leaf || c == '[' && w.numbers(i):
		end := nested(w.b, i)
		w.give(i, end, r, true)
		return end
	}
	saved := w.at
	if r.role != NoRole {
		w.at.role = r.role
	}
	if r.kind != Other {
		w.at.said = r.kind
	}
	w.at.repeat = w.at.repeat || r.repeat
	if w.b[i] == '[' {
		i = w.elements(i, r)
	} else {
		i = w.object(i, r.in)
	}
	w.at = saved
	return i
}

// numbers reports whether the array at i begins with a number: a text as tokens.
func (w *walker) numbers(i int) bool {
	i = space(w.b, i+1)
	return i < len(w.b) && w.b[i]-'0' <= 9
}

// elements reads the array at i.
func (w *walker) elements(i int, r rule) int {
	i++
	for n := 0; ; n++ {
		at, ok := element(w.b, i)
		if !ok {
			return at
		}
		w.index = n
		i = w.value(at, r)
	}
}

// members reads the object at i, by the rules of a node.
func (w *walker) members(i int, n node) int {
	for i++; ; {
		text, at, ok := name(w.b, i)
		if !ok {
			return at
		}
		w.index = 0
		i = w.value(at, w.rule(n, text, at))
	}
}

// rule returns the rule for the member of an object, whose value is at i.
func (w *walker) rule(n node, name []byte, i int) rule {
	switch n &^ (languageNodes - 1) { //nolint:exhaustive // the first node of each language
	case chatNodes:
		return w.chat(n, name, i)
	case messagesNodes:
		return w.messages(n, name, i)
	case responsesNodes:
		return w.responses(n, name)
	case inputNodes:
		return input(n, name)
	case listNodes:
		return list(n, name)
	case contentsNodes:
		return w.contents(n, name)
	case converseNodes:
		return w.converse(n, name)
	case turnsNodes:
		return w.turns(n, name)
	}
	return common(n, name)
}

// object reads the object at i. What an object says of the texts in it is known before its members
// are read.
func (w *walker) object(i int, n node) int {
	switch n { //nolint:exhaustive // the others say nothing
	case contentsCandidate:
		w.at.choice = index(w.b, i, "index", w.index)
	case contentsAnswerPart:
		if w.at.item = 0; member(w.b, i, "text") == 0 {
			w.at.item = w.index
		}
		fallthrough
	case contentsPart:
		w.contentPart(i)
	case chatMessage, messagesMessage, contentsTurn, converseMessage, turnsMessage:
		w.at.item = w.index
		fallthrough
	case chatAnswer:
		w.at.role = roleOf(find(w.b, i, "role"), w.at.role)
		w.at.said = saidBy(w.at.role)
		w.twice = false
	case chatChoice:
		w.at.choice = index(w.b, i, "index", w.index)
	case chatAnswerCall:
		w.at.item = index(w.b, i, "index", w.index)
	case messagesAnswerBlock:
		w.at.item = w.index
		w.block(i)
	case messagesBlock, messagesDelta:
		w.block(i)
	case messagesSource:
		w.at.plain = isAny(w.b, i, "type", "text")
	case messagesEvent:
		w.at.item = index(w.b, i, "index", 0)
	case responsesItem:
		w.at.item = w.index
		w.item(i)
	case responsesEventItem:
		w.item(i)
	case responsesPart:
		w.at.part = w.index
	case responsesEventPart:
		if typed := find(w.b, i, "type"); string(typed) == "reasoning_text" || string(typed) == "summary_text" {
			w.at.said = Reasoning
		}
	case responsesEvent:
		w.event(i)
	case listAudioEvent:
		w.at.repeat = !hasSuffix(find(w.b, i, "type"), ".delta")
	case inputDocument:
		end := nested(w.b, i)
		w.give(i, end, rule{kind: w.at.said}, true)
		return end
	default:
		w.place(i, n)
	}
	return w.members(i, n)
}

// place notes where the texts of the object at i are, in the answers of languages that say no more of them.
func (w *walker) place(i int, n node) {
	switch n { //nolint:exhaustive // the others say nothing
	case converseAnswerBlock, turnsSaid:
		w.at.item = w.index
	case converseEvent:
		w.at.item = index(w.b, i, "contentBlockIndex", 0)
	case turnsEvent:
		w.at.item = index(w.b, i, "index", 0)
	case turnsAnswerCall:
		w.at.item, w.at.part = w.index, turnsCallPart
	case turnsChangedCall:
		w.at.part = turnsCallPart
	}
}

// saidBy returns the kind of what the author of a message says.
func saidBy(r Role) Kind {
	if r == Tool {
		return Result
	}
	return Content
}

// topLevel is the rule for a member of a request that its language has no rule for.
func topLevel(name []byte) rule {
	if f, ok := splice.FieldNamed(name); ok && Unread.Has(f) {
		return rule{}
	}
	return rule{kind: Other}
}

// hasSuffix is strings.HasSuffix for bytes, without a copy of the suffix.
func hasSuffix(b []byte, suffix string) bool {
	return len(b) >= len(suffix) && string(b[len(b)-len(suffix):]) == suffix
}
