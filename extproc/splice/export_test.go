package splice

// ScanEdited is Scan for the body that an edit returned. The edit may have removed messages.
func ScanEdited(body []byte, r *Request) error {
	if err := r.scan(body); err != nil {
		return err
	}
	return r.check()
}
