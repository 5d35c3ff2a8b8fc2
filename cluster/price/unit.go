package price

import (
	"strconv"
	"strings"

	"github.com/modelgateway/modelgateway/cluster/usage"
)

// unit is something other than tokens that models are sold by.
type unit uint8

const (
	unitImage      unit = iota // an image that was made
	unitCharacter              // a character that was read
	unitInputTime              // a second of what was read
	unitOutputTime             // a second of what was made
	unitPage                   // a page that was read
	unitQuery                  // a search query, or a search unit
	unitRequest                // a request, whatever it consumed
	units                      // how many there are
)

// keys returns the names that the unit's price has in the price table. The first
// that is not 0 counts, and the others say the same once more: whisper has the price
// of a second both as input and as output, and it is paid once.
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

// Keys of what is sold by the pixel: a price for the image whose size is in the name
// of its row.
const (
	keyInputPixel  = "input_cost_per_pixel"
	keyOutputPixel = "output_cost_per_pixel"
)

// unitRates are the prices of the units, and whether there is any.
type unitRates struct {
	rates [units]rate
	known bool
}

// newUnitRates picks the prices of the units from a list. pixels is the size of the
// images that the list is for; 0 if it is for any.
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

// cost bills what was consumed beside the tokens: whole units, and time in
// thousandths. What was counted in tokens that have a price is not billed once more:
// a provider may report an image both as one image and as its tokens, and only the
// price table knows which of the two it is sold by.
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
	if t != (usage.Tokens{}) { // an attempt that consumed nothing was not served
		whole = whole.plus(u.rates[unitRequest])
	}
	return whole, thousandths
}
