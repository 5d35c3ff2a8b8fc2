package price

import (
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// unit is something other than tokens that models are sold by.
type unit uint8

const (
	unitImage      unit = iota // a generated image
	unitCharacter              // a character read
	unitInputTime              // a second of audio or video read
	unitOutputTime             // a second of audio or video generated
	unitPage                   // a page read
	unitQuery                  // a search query, or a search unit
	unitRequest                // a request, independent of its usage
	units                      // how many there are
)

// keys returns the names of the unit's price in the price table. The first that is not 0 counts,
// and the others repeat it: whisper has the price of a second both as input and as output, and
// it is billed once.
func (u unit) keys() []string {
	switch u {
	case unitImage:
		return []string{"output_cost_per_image", "input_cost_per_image"}
	case unitCharacter:
		return []string{"input_cost_per_character"}
	case unitInputTime:
		return []string{"input_cost_per_second", "input_cost_per_audio_per_second", "input_cost_per_video_per_second", "output_cost_per_second"}
	case unitOutputTime:
		return []string{"output_cost_per_second", "output_cost_per_video_per_second"}
	case unitPage:
		return []string{"ocr_cost_per_page"}
	case unitQuery:
		return []string{"input_cost_per_query"}
	case unitRequest:
		return []string{"input_cost_per_request"}
	case units:
	}
	return nil
}

// Keys of prices per pixel, of an image whose size is in the name of the row.
const (
	keyInputPixel  = "input_cost_per_pixel"
	keyOutputPixel = "output_cost_per_pixel"
)

// unitRates has the prices of the units, and whether there is any.
type unitRates struct {
	rates [units]rate
	known bool
}

// newUnitRates selects the prices of the units from a list. pixels is the size of the images
// that the list is for; 0 for any.
func newUnitRates(list map[string]rate, pixels int64) unitRates {
	var out unitRates
	for u := range units {
		for _, key := range u.keys() {
			r, there := list[key]
			out.known = out.known || there
			if out.rates[u] == (rate{}) {
				out.rates[u] = r
			}
		}
	}
	if perPixel := list[keyInputPixel].plus(list[keyOutputPixel]); pixels > 0 && perPixel != (rate{}) {
		out.known = true
		if out.rates[unitImage] == (rate{}) {
			out.rates[unitImage] = perPixel.times(pixels)
		}
	}
	return out
}

// ReadTime reports whether a second of sound or video that the model reads has a price.
func (p *Prices) ReadTime() bool { return p.has(unitInputTime) }

// WrittenTime reports whether a second of sound or video that the model makes has a price.
func (p *Prices) WrittenTime() bool { return p.has(unitOutputTime) }

// Characters reports whether a character that the model reads has a price.
func (p *Prices) Characters() bool { return p.has(unitCharacter) }

func (p *Prices) has(u unit) bool { return p != nil && p.units.rates[u] != (rate{}) }

// pixelsOf reads the size in the name of a row, such as hd/1024-x-1792/dall-e-3.
func pixelsOf(model string) int64 {
	for piece := range strings.SplitSeq(model, "/") {
		w, h, ok := strings.Cut(piece, "-x-")
		if !ok {
			continue
		}
		width, err := strconv.ParseUint(w, 10, 16)
		height, err2 := strconv.ParseUint(h, 10, 16)
		if err == nil && err2 == nil {
			return int64(width * height)
		}
	}
	return 0
}

// cost bills the usage of other units than tokens: whole units, and time in thousandths. It does
// not bill again what tokens with a price have counted: a provider may report an image both as
// one image and as its tokens, and only the price table says which of the two has a price.
func (u *unitRates) cost(t usage.Tokens, byToken *[parts]rate) (whole, thousandths rate) {
	priced := func(p part, count int64) bool { return byToken != nil && count > 0 && byToken[p] != (rate{}) }
	if !priced(partOutputImage, t.OutputImage) {
		whole = whole.plus(u.rates[unitImage].times(t.Images))
	}
	if !priced(partInputAudio, t.InputAudio) {
		thousandths = thousandths.plus(u.rates[unitInputTime].times(t.InputMillis))
	}
	if !priced(partOutputAudio, t.OutputAudio) {
		thousandths = thousandths.plus(u.rates[unitOutputTime].times(t.OutputMillis))
	}
	whole = whole.plus(u.rates[unitCharacter].times(t.InputCharacters)).
		plus(u.rates[unitPage].times(t.Pages)).
		plus(u.rates[unitQuery].times(t.SearchQueries))
	if t != (usage.Tokens{}) { // an attempt without usage was not served
		whole = whole.plus(u.rates[unitRequest])
	}
	return whole, thousandths
}
