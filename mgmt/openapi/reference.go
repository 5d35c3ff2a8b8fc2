package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Reference is the API's description. It may be used by several goroutines.
type Reference struct {
	document func() (*asset, error)
	page     func() (*asset, error)
}

// New takes an OpenAPI document. The page is made when it is asked for first.
func New(document string) *Reference {
	return &Reference{
		document: sync.OnceValues(func() (*asset, error) { return newAsset("application/json", "default-src 'none'", []byte(document)) }),
		page:     sync.OnceValues(func() (*asset, error) { return render([]byte(document)) }),
	}
}

// Document answers with the document. If it returns an error it has not answered.
func (f *Reference) Document(w http.ResponseWriter, r *http.Request) error {
	return answerWith(w, r, f.document)
}

// Page answers with the page for people. If it returns an error it has not answered.
func (f *Reference) Page(w http.ResponseWriter, r *http.Request) error {
	return answerWith(w, r, f.page)
}

func answerWith(w http.ResponseWriter, r *http.Request, load func() (*asset, error)) error {
	a, err := load()
	if err != nil {
		return err
	}
	a.serve(w, r)
	return nil
}

// asset is a file that is the same for everybody until the program changes.
type asset struct {
	media, policy, etag string
	plain, packed       []byte
}

// newAsset keeps a file as it is and compressed.
func newAsset(media, policy string, body []byte) (*asset, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &asset{media: media, policy: policy, etag: `W/"` + hex.EncodeToString(sum[:16]) + `"`, plain: body, packed: packed.Bytes()}, nil
}

// serve answers with the file, or with 304 if the caller has it.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "public, no-cache") // to be asked for each time, which costs a 304
	h.Add("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", a.policy)
	if slices.ContainsFunc(listed(r.Header.Values("If-None-Match")), func(tag string) bool {
		return tag == "*" || strings.TrimPrefix(tag, "W/") == strings.TrimPrefix(a.etag, "W/")
	}) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", a.media)
	body := a.plain
	if slices.ContainsFunc(listed(r.Header.Values("Accept-Encoding")), acceptsGzip) {
		h.Set("Content-Encoding", "gzip")
		body = a.packed
	}
	_, _ = w.Write(body)
}

// acceptsGzip reads one item of Accept-Encoding.
func acceptsGzip(item string) bool {
	name, weight, _ := strings.Cut(item, ";")
	weight = strings.TrimRight(strings.ReplaceAll(weight, " ", ""), "0")
	return strings.EqualFold(strings.TrimSpace(name), "gzip") && weight != "q=" && weight != "q=0."
}

// listed are the items of a header that has a list.
func listed(values []string) []string {
	var out []string
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			out = append(out, strings.TrimSpace(item))
		}
	}
	return out
}
