package media_test

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/modelgateway/modelgateway/extproc/media"
)

// pictures are files of 300 by 200 pixels, by format.
func pictures(tb testing.TB) map[string]string {
	tb.Helper()
	m := image.NewPaletted(image.Rect(0, 0, 300, 200), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, m), jpeg.Encode(&j, m, nil), gif.Encode(&g, m, nil)} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	exif := "\xff\xe1" + be(uint16(1000)) + zeros(998)
	riff := func(chunk string) string { return "RIFF" + le(uint32(4+len(chunk))) + "WEBP" + chunk }
	return map[string]string{
		"PNG":              p.String(),
		"JPEG":             j.String(),
		"JPEG with Exif":   j.String()[:2] + exif + "\xff" + j.String()[2:],
		"GIF":              g.String(),
		"lossy WebP":       riff("VP8 " + le(uint32(10)) + zeros(3) + "\x9d\x01\x2a" + le(uint16(300), uint16(200))),
		"lossless WebP":    riff("VP8L" + le(uint32(5)) + "\x2f" + le(uint32(299|199<<14)) + zeros(5)),
		"extended WebP":    riff("VP8X" + le(uint32(10)) + zeros(4) + "\x2b\x01\x00" + "\xc7\x00\x00"),
		"lossy and mirror": riff("VP8 " + le(uint32(10)) + zeros(3) + "\x9d\x01\x2a" + le(uint16(300|1<<14), uint16(200|3<<14))),
	}
}

func TestSize(t *testing.T) {
	t.Parallel()
	for name, file := range pictures(t) {
		if w, h, ok := media.Size([]byte(file)); w != 300 || h != 200 || !ok {
			t.Errorf("%s: %d by %d, %v; want 300 by 200", name, w, h, ok)
		}
		for n := range min(len(file), 24) {
			if _, _, ok := media.Size([]byte(file[:n])); ok && name != "GIF" {
				t.Errorf("%s: %d bytes have a size", name, n)
			}
		}
	}
	huge := "\x89PNG\r\n\x1a\n" + be(uint32(13)) + "IHDR" + be(uint32(1<<31), uint32(1))
	for _, file := range []string{"", "%PDF-1.7", huge, "\xff\xd8\xff\xda\x00\x02", "\xff\xd8\xff\xc0\x00\x01"} {
		if w, h, ok := media.Size([]byte(file)); ok {
			t.Errorf("%q: %d by %d", file, w, h)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, file := range pictures(f) {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if w, h, ok := media.Size(file); ok != (w > 0 && h > 0) {
			t.Errorf("%d by %d, %v", w, h, ok)
		}
	})
}
