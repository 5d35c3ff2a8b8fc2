package price

import (
	"slices"
	"strings"
)

// Picture is what the price of a picture depends on, in the words of a request, such as hd and
// 1024x1792. Both may be empty.
type Picture struct{ Quality, Size string }

// OfPicture returns the prices of pictures of a quality and a size, which are in a row of their own: hd/1024-x-1792/dall-e-3. They are those of base, with the picture's price in
// place of base's. It returns base if the table has no such row, or if the deployment's own prices name what a
// picture costs.
func OfPicture(find Finder, k Source, own []Entry, base *Prices, of Picture) *Prices {
	if slices.ContainsFunc(own, isOfPictures) {
		return base
	}
	r := lookupPicture(find, k, of.Quality, of.Size)
	entries := r.Entries()
	if !slices.ContainsFunc(entries, isOfPictures) {
		return base
	}
	var list []Entry
	for _, e := range base.List() {
		if !isOfPictures(e) {
			list = append(list, e)
		}
	}
	for _, e := range entries {
		if isOfPictures(e) {
			list = append(list, e)
		}
	}
	prices, err := newPrices(k.Provider, list, pixelsOf(r.Model))
	if err != nil || prices.units.rates[unitImage] == (rate{}) { // some rows say 0 for a price that nobody knows
		return base
	}
	return prices
}

// isOfPictures reports whether a price is that of a picture.
func isOfPictures(e Entry) bool {
	return e.Key == keyInputPixel || e.Key == keyOutputPixel || slices.Contains(unitImage.keys(), e.Key)
}

// The values that providers give to requests without a quality or a size. The newer models choose
// their own, and report tokens.
const (
	usualQuality = "standard"
	usualSize    = "1024x1024"
)

// lookupPicture finds the row of a quality and a size; the zero row if there is none.
func lookupPicture(find Finder, k Source, quality, size string) Row {
	if quality == "" || quality == "auto" {
		quality = usualQuality
	}
	if size == "" || size == "auto" {
		size = usualSize
	}
	width, height, ok := strings.Cut(size, "x")
	if !ok {
		return Row{}
	}
	size = width + "-x-" + height
	for _, variant := range []string{quality + "/" + size + "/", size + "/"} {
		of := Source{Provider: k.Provider, Model: variant + k.Model}
		if k.Base != "" {
			of.Base = variant + k.Base
		}
		if r := Lookup(find, of); r.Model != "" {
			return r
		}
	}
	return Row{}
}
