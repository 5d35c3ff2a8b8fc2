package gemini

import (
	"math"
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
)

// picture is the form of a picture, as Google names it.
type picture struct {
	Ratio string `json:"aspectRatio,omitzero"`
	Size  string `json:"imageSize,omitzero"` // empty for the usual 1K
}

// ratios lists the ratios of width to height that Gemini's models draw in.
func ratios() []string {
	return []string{"1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"}
}

// imagenRatios lists those of Imagen.
func imagenRatios() []string { return []string{"1:1", "3:4", "4:3", "9:16", "16:9"} }

// nearEnough is the largest difference of a requested ratio from the one that a model draws in: OpenAI's
// 1792x1024 is 16:9.
const nearEnough = 0.05

// The numbers of pixels from which a picture is larger than the usual 1K.
const (
	pixels2K = 2_000_000
	pixels4K = 8_000_000
)

// form takes the size of a picture: OpenAI's in pixels, or Google's ratio and size. The model draws in the ratios.
func (p *options) form(ratios []string) picture {
	out := picture{p.text("aspect_ratio", "aspectRatio"), p.text("image_size", "imageSize")}
	size := p.text("size")
	if size == "" || size == "auto" {
		return out
	}
	width, height, ok := pixelsOf(size)
	if !ok {
		p.fail(fault.Field("size", "invalid_value", "size must be auto, or width and height in pixels such as 1024x1024."))
		return out
	}
	ratio, distance := nearest(float64(width)/float64(height), ratios)
	if distance > nearEnough && out.Ratio == "" && !p.target.DropParams {
		p.fail(fault.Field("size", driver.CodeUnsupported, "size: this model draws in the ratios %s; request a size of one of them, or set drop_params on the deployment.",
			strings.Join(ratios, ", ")))
	}
	if out.Ratio == "" {
		out.Ratio = ratio
	}
	if out.Size == "" && width*height >= pixels4K {
		out.Size = "4K"
	} else if out.Size == "" && width*height >= pixels2K {
		out.Size = "2K"
	}
	return out
}

// pixelsOf reads a size such as 1024x1536.
func pixelsOf(size string) (width, height uint64, ok bool) {
	w, h, ok := strings.Cut(size, "x")
	width, err := strconv.ParseUint(w, 10, 16)
	height, err2 := strconv.ParseUint(h, 10, 16)
	return width, height, ok && err == nil && err2 == nil && width > 0 && height > 0
}

// nearest returns the ratio of a list that is nearest to another one, and by which part they differ.
func nearest(want float64, list []string) (found string, distance float64) {
	distance = math.Inf(1)
	for _, one := range list {
		w, h, _ := strings.Cut(one, ":")
		width, _ := strconv.ParseFloat(w, 64)
		height, _ := strconv.ParseFloat(h, 64) // the list has numbers
		if d := math.Abs(math.Log(want * height / width)); d < distance {
			found, distance = one, d
		}
	}
	return found, distance
}
