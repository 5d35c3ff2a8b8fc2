package splice

// Set returns a set of fields.
func Set(list ...Field) FieldSet {
	var s FieldSet
	for _, f := range list {
		s |= 1 << f
	}
	return s
}

// ScanEdited is Scan for the body that an edit returned. The edit may have removed messages.
func ScanEdited(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	return r.check()
}
