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

// Reference is the API's description. It is safe for concurrent use.
type Reference struct {
	document func() (*asset, error)
	page     func() (*asset, error)
}

// New returns the description of an OpenAPI document. The first request for the page makes it.
func New(document string) *Reference {
	return &Reference{
		document: sync.OnceValues(func() (*asset, error) { return newAsset("application/json", "default-src 'none'", []byte(document)) }),
		page:     sync.OnceValues(func() (*asset, error) { return render([]byte(document)) }),
	}
}

// Document sends the document. If it returns an error, it has sent nothing.
func (f *Reference) Document(w http.ResponseWriter, r *http.Request) error {
	return answerWith(w, r, f.document)
}

// Page sends the page for people. If it returns an error, it has sent nothing.
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

// asset is a file that is the same in every response of the process.
type asset struct {
	media, policy, etag string
	plain, packed       []byte
}

// newAsset keeps a file plain and compressed.
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

// serve sends the file, or 304 if the caller has it.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "public, no-cache") // clients ask each time, and get a 304
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

// listed returns the items of a header that has a list.
func listed(values []string) []string {
	var out []string
	for _, v := range values {
		for item := range strings.SplitSeq(v, ",") {
			out = append(out, strings.TrimSpace(item))
		}
	}
	return out
}
