package operation

import (
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
)

// Takes rejects a request whose content type is that of another form than the operation's requests.
func (o *Operation) Takes(contentType string) error {
	form := &o.Request
	media, params, _ := strings.Cut(contentType, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	if !form.Is(media) && (!o.Blob || media != "" && media != "application/octet-stream") {
		return &fault.Error{
			Kind: fault.MediaType, Param: "content-type",
			Detail: "Send the body as " + form.Name + ", with the header Content-Type: " + form.Media + ".",
		}
	}
	for param := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		if form.Charset != "" && strings.EqualFold(name, "charset") && !strings.EqualFold(strings.Trim(value, `"`), form.Charset) {
			return &fault.Error{
				Kind: fault.MediaType, Param: "content-type",
				Detail: form.Name + " is read as " + strings.ToUpper(form.Charset) + " only; drop the charset from Content-Type or make it " + form.Charset + ".",
			}
		}
	}
	return nil
}
