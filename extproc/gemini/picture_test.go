package gemini_test

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/gemini"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// drawingOf rewrites a request for a picture, and returns its ratio and size.
func drawingOf(t interface{ Fatalf(string, ...any) }, body string, to driver.Target) (ratio, size string, err error) {
	var facts splice.Request
	if err := splice.ScanInputs(splice.Prompt)([]byte(body), &facts); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	sent, err := gemini.Driver{}.Rewrite(&driver.Original{Endpoint: driver.Images, Facts: &facts}, to)
	if err != nil {
		return "", "", err
	}
	var out struct {
		Generation struct {
			Picture struct {
				Ratio string `json:"aspectRatio"`
				Size  string `json:"imageSize"`
			} `json:"imageConfig"`
		} `json:"generationConfig"`
		Parameters struct {
			Ratio string `json:"aspectRatio"`
			Size  string `json:"sampleImageSize"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(sent.Body, &out); err != nil {
		t.Fatalf("%s: %v", sent.Body, err)
	}
	return out.Generation.Picture.Ratio + out.Parameters.Ratio, out.Generation.Picture.Size + out.Parameters.Size, nil
}

// Every size is refused by its name, or becomes a ratio within 5 % of it; and a picture on its side becomes the same ratio on its side.
func TestSizesBecomeNearRatios(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(1, 5000).Draw(t, "width"), rapid.IntRange(1, 5000).Draw(t, "height")
		model := rapid.SampledFrom([]string{"gemini-3.1-flash-image", "imagen-4.0-generate-001"}).Draw(t, "model")
		ask := func(w, h int, drop bool) (string, string, error) {
			return drawingOf(t, fmt.Sprintf(`{"model":"fast","prompt":"a","size":"%dx%d"}`, w, h), driver.Target{Model: model, DropParams: drop})
		}
		ratio, size, err := ask(width, height, false)
		if err != nil {
			if fault.From(err).Param != "size" {
				t.Fatalf("%v is not about the size", err)
			}
			if ratio, _, err = ask(width, height, true); err != nil || ratio == "" {
				t.Fatalf("with drop_params: %q, %v", ratio, err)
			}
			return
		}
		var w, h int
		if _, err := fmt.Sscanf(ratio, "%d:%d", &w, &h); err != nil {
			t.Fatalf("the ratio is %q: %v", ratio, err)
		}
		if got := float64(width) * float64(h) / float64(height) / float64(w); got > 1.052 || got < 1/1.052 {
			t.Fatalf("%dx%d became %s", width, height, ratio)
		}
		want := ""
		if n := width * height; n >= 8_000_000 {
			want = "4K"
		} else if n >= 2_000_000 {
			want = "2K"
		}
		if size != want {
			t.Fatalf("%dx%d has the size %q", width, height, size)
		}
		if turned, _, err := ask(height, width, false); err == nil && turned != fmt.Sprintf("%d:%d", h, w) && ratio != "21:9" {
			t.Fatalf("%s on its side is %s", ratio, turned)
		}
	})
}

// Members of a wrong type are refused by name, also where the deployment drops what its provider lacks.
func TestDrawingsRefuseWrongTypes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ member, model string }{
		{`"size":1024`, "gemini-3.1-flash-image"},
		{`"size":"1024x"`, "gemini-3.1-flash-image"},
		{`"size":"0x1"`, "imagen-4"},
		{`"size":"99999x1"`, "imagen-4"},
		{`"aspect_ratio":1`, "gemini-3.1-flash-image"},
		{`"output_format":1`, "imagen-4"},
		{`"response_format":true`, "imagen-4"},
		{`"stream":true`, "imagen-4"},
	} {
		name := strings.Split(c.member, `"`)[1]
		if _, _, err := drawingOf(t, `{"model":"fast","prompt":"a",`+c.member+`}`, driver.Target{Model: c.model, DropParams: true}); err == nil || fault.From(err).Param != name {
			t.Errorf("%s: %v", c.member, err)
		}
	}
}

// editOf rewrites a request for the change of pictures; each file is a name and its bytes.
func editOf(t interface{ Fatal(...any) }, prompt string, files ...[2]string) ([]byte, error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	for _, f := range files {
		part, err := w.CreateFormFile(f[0], "a.jpg")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(f[1])) // a buffer takes all
	}
	if err := errors.Join(w.WriteField("model", "fast"), w.WriteField("prompt", prompt), w.Close()); err != nil {
		t.Fatal(err)
	}
	facts := splice.Request{Boundary: w.Boundary()}
	if err := splice.ScanForm("image")(form.Bytes(), &facts); err != nil {
		t.Fatal(err)
	}
	sent, err := gemini.Driver{}.Rewrite(&driver.Original{Endpoint: driver.ImageEdits, Facts: &facts}, driver.Target{Model: "gemini-3.1-flash-image"})
	return sent.Body, err
}

// Pictures that are to be changed stand before the prompt, in their order and byte for byte, whatever the prompt says.
func TestEditsKeepPictures(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		prompt := rapid.SampledFrom([]string{"a fox", `"data":""`, `\"data\":\"\"`, "\u2028"}).Draw(t, "prompt")
		var files [][2]string
		for range rapid.IntRange(1, 4).Draw(t, "pictures") {
			files = append(files, [2]string{"image[]", string(rapid.SliceOfN(rapid.Byte(), 1, 30).Draw(t, "picture"))})
		}
		body, err := editOf(t, prompt, files...)
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Contents []struct {
				Parts []struct {
					Text   string `json:"text"`
					Inline struct {
						Type string `json:"mimeType"`
						Data []byte `json:"data"`
					} `json:"inlineData"`
				} `json:"parts"`
			} `json:"contents"`
		}
		if err := json.Unmarshal(body, &out); err != nil || len(out.Contents) != 1 || len(out.Contents[0].Parts) != len(files)+1 {
			t.Fatalf("%s: %v", body, err)
		}
		for i, f := range files {
			if p := &out.Contents[0].Parts[i].Inline; string(p.Data) != f[1] || p.Type != "image/jpeg" {
				t.Fatalf("%x became %x of type %s", f[1], p.Data, p.Type)
			}
		}
		if got := out.Contents[0].Parts[len(files)].Text; got != prompt {
			t.Fatalf("the prompt is %q", got)
		}
	})
	if _, err := editOf(t, "a", [2]string{"image", "a"}, [2]string{"mask", "b"}); err == nil || fault.From(err).Param != "mask" {
		t.Errorf("a mask: %v", err)
	}
	if _, ok := (gemini.Driver{}).Serves(driver.Target{Model: "imagen-4.0-generate-001"}, driver.ImageEdits); ok {
		t.Error("Imagen changes pictures")
	}
}
