package responses

// close ends the open reasoning or message, if there is one.
func (e *encoder) close(dst []byte) []byte {
	o := e.open
	if o == nil {
		return dst
	}
	dst = e.closePart(dst)
	if o.item.Status == statusInProgress {
		o.item.Status = statusCompleted
	}
	dst = e.item(dst, eventItemDone, o)
	e.open = nil
	return dst
}

// closePart ends the open part.
func (e *encoder) closePart(dst []byte) []byte {
	o := e.open
	o.keep()
	all := string(o.text)
	switch o.kind {
	case noPart, thoughtKind, callKind, blockKind:
	case textKind:
		p := o.item.Content[o.part]
		dst = e.end(appendSteps(text(e.inPart(dst, eventTextDone), "text", all), p.Logprobs))
		dst = e.end(value(e.inPart(dst, eventPartDone), "part", p))
	case refusalKind:
		dst = e.end(text(e.inPart(dst, eventRefusalDone), "refusal", all))
		dst = e.end(value(e.inPart(dst, eventPartDone), "part", o.item.Content[o.part]))
	case summaryKind:
		dst = e.end(text(e.inPart(dst, eventSummaryEnd), "text", all))
		dst = e.end(value(e.inPart(dst, eventSummaryDone), "part", o.item.Summary[0]))
	}
	o.text = o.text[:0]
	return dst
}

// closeCall ends a call.
func (e *encoder) closeCall(dst []byte, c *openCall) []byte {
	c.keep()
	name, field := eventArgumentsDone, "arguments"
	if c.item.Input != nil {
		name, field = eventInputDone, "input"
	}
	dst = e.end(text(e.in(dst, name, &c.opened), field, string(c.text)))
	if c.item.Status == statusInProgress {
		c.item.Status = statusCompleted
	}
	return e.item(dst, eventItemDone, &c.opened)
}

// keep writes the text that has come into the item.
func (o *opened) keep() {
	all := string(o.text)
	switch {
	case o.item.Arguments != nil:
		o.item.Arguments = &all
	case o.item.Input != nil:
		o.item.Input = &all
	case o.kind == textKind:
		o.item.Content[o.part].Text = &all
	case o.kind == refusalKind:
		o.item.Content[o.part].Refusal = &all
	case o.kind == summaryKind:
		o.item.Summary = []textItem{{Type: "summary_text", Text: all}}
	}
}

// cut keeps what has come of an item that gets no end.
func (o *opened) cut() {
	o.keep()
	if o.item.Status != "" {
		o.item.Status = statusIncomplete
	}
}
