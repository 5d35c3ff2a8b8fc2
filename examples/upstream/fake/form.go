package fake

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
)

// form is a body of the type multipart/form-data. Of fields with one name the last one counts.
type form struct {
	fields map[string]string
	files  map[string][]byte
}

// readForm reads a form.
func readForm(contentType string, body []byte) (form, error) {
	f := form{fields: map[string]string{}, files: map[string][]byte{}}
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return f, err
	}
	r := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		value, err := io.ReadAll(p)
		if err != nil {
			return f, err
		}
		if p.FileName() != "" {
			f.files[p.FormName()] = value
		} else {
			f.fields[p.FormName()] = string(value)
		}
	}
}

// isForm reports whether a content type is that of a form.
func isForm(contentType string) bool { return strings.HasPrefix(contentType, "multipart/form-data") }
