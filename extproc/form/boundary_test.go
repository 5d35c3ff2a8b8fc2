package form_test

import (
	"errors"
	"mime"
	"strings"
	"testing"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/form"
)

func TestBoundary(t *testing.T) {
	for _, c := range []struct{ header, want, code string }{
		{"multipart/form-data; boundary=abc", "abc", ""},
		{"multipart/form-data;boundary=abc", "abc", ""},
		{"Multipart/Form-Data ; Boundary=\"a b:c?\" ; charset=utf-8", "a b:c?", ""},
		{"multipart/form-data; boundary=----=_Part_1.2", "----=_Part_1.2", ""},
		{"multipart/form-data; boundary=" + strings.Repeat("x", 70), strings.Repeat("x", 70), ""},
		{"application/json", "", "unsupported_media_type"},
		{"", "", "unsupported_media_type"},
		{"multipart/form-data", "", "invalid_multipart"},
		{"multipart/form-data; boundary=", "", "invalid_multipart"},
		{"multipart/form-data; boundary=\"\"", "", "invalid_multipart"},
		{"multipart/form-data; boundary=\"abc", "", "invalid_multipart"},
		{"multipart/form-data; boundary=\"abc \"", "", "invalid_multipart"},
		{"multipart/form-data; boundary=\"a\\\"b\"", "", "invalid_multipart"},
		{"multipart/form-data; boundary=a\"b", "", "invalid_multipart"},
		{"multipart/form-data; boundary=a boundary=b", "", "invalid_multipart"},
		{"multipart/form-data; boundary=a; boundary=b", "", "invalid_multipart"},
		{"multipart/form-data; boundary=a, multipart/form-data; boundary=b", "", "invalid_multipart"},
		{"multipart/form-data; boundary=é", "", "invalid_multipart"},
		{"multipart/form-data; boundary=" + strings.Repeat("x", 71), "", "invalid_multipart"},
	} {
		got, err := form.Boundary(c.header)
		if c.code == "" {
			if err != nil || got != c.want {
				t.Errorf("%q: %q, %v", c.header, got, err)
			}
			continue
		}
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Param != "content-type" || e.Code != c.code && e.Kind.Code() != c.code {
			t.Errorf("%q: %v, want %s", c.header, err, c.code)
		}
	}
}

func FuzzBoundary(f *testing.F) {
	for _, s := range []string{"multipart/form-data; boundary=abc", `Multipart/form-data ; a=b; boundary="a b"`, `multipart/form-data;boundary="a\"b"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		got, err := form.Boundary(header)
		if err != nil {
			return
		}
		_, params, err := mime.ParseMediaType(header)
		if err == nil && params["boundary"] != got {
			t.Fatalf("%q, not %q", got, params["boundary"])
		}
	})
}
