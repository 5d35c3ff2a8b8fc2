package bedrock

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/modelgateway/modelgateway/cluster/fault"
	"github.com/modelgateway/modelgateway/extproc/driver"
	"github.com/modelgateway/modelgateway/extproc/splice"
)

// amazonPicture is the body of a request for pictures of Titan's and Nova's.
type amazonPicture struct {
	Task   string `json:"taskType"`
	Params struct {
		Text     string         `json:"text"`
		Negative jsontext.Value `json:"negativeText,omitzero"`
		Style    jsontext.Value `json:"style,omitzero"`
	} `json:"textToImageParams"`
	Config struct {
		N       jsontext.Value `json:"numberOfImages,omitzero"`
		Width   int            `json:"width,omitzero"`
		Height  int            `json:"height,omitzero"`
		Quality string         `json:"quality,omitzero"`
		Scale   jsontext.Value `json:"cfgScale,omitzero"`
		Seed    jsontext.Value `json:"seed,omitzero"`
	} `json:"imageGenerationConfig"`
}

// stabilityPicture is the body of a request for a picture of Stability's.
type stabilityPicture struct {
	Prompt   string         `json:"prompt"`
	Negative jsontext.Value `json:"negative_prompt,omitzero"`
	Ratio    string         `json:"aspect_ratio,omitzero"`
	Format   jsontext.Value `json:"output_format,omitzero"`
	Seed     jsontext.Value `json:"seed,omitzero"`
}

// draw writes a request for pictures.
func draw(o *splice.Object, t driver.Target, f *family) (any, error) {
	prompt, err := takeText(o, "prompt")
	if err != nil {
		return nil, err
	}
	if format := driver.Text(take(o, "response_format")); format == "url" && !t.DropParams {
		return nil, fault.Field("response_format", driver.CodeUnsupported, "response_format: %s has no addresses of pictures; ask for b64_json, or set drop_params on the deployment.", vendor)
	}
	take(o, "moderation") // the provider's own
	size := driver.Text(take(o, "size"))
	width, height, ok := sizeOf(size)
	if !ok && size != "" && size != "auto" {
		return nil, fault.Field("size", "invalid_value", "size must be a width and a height, such as 1024x1024.")
	}
	negative, seed, n := take(o, "negative_prompt"), take(o, "seed"), take(o, "n")
	var out any
	if f.name == familyStability {
		body := stabilityPicture{Prompt: prompt, Negative: negative, Seed: seed, Format: take(o, "output_format")}
		take(o, "quality")
		if body.Ratio = ratioOf(width, height); ok && body.Ratio == "" {
			return nil, fault.Field("size", "invalid_value", "size: %s draws pictures of the ratios %s; choose a size of one of them.", vendor, strings.Join(ratios(), ", "))
		}
		if string(n) != "1" && n != nil && !t.DropParams {
			return nil, fault.Field("n", driver.CodeUnsupported, "n: the model draws one picture in a request; send several requests, or set drop_params on the deployment.")
		}
		out = &body
	} else {
		body := amazonPicture{Task: "TEXT_IMAGE"}
		body.Params.Text, body.Params.Negative = prompt, negative
		body.Config.N, body.Config.Width, body.Config.Height, body.Config.Seed, body.Config.Scale = n, width, height, seed, take(o, "cfgScale")
		switch driver.Text(take(o, "quality")) {
		case "hd", "high", "premium":
			body.Config.Quality = "premium"
		case "standard", "low", "medium":
			body.Config.Quality = "standard"
		}
		out = &body
	}
	return out, rest(o, t)
}

// ratios lists the ratios of Stability's pictures.
func ratios() []string {
	return []string{"16:9", "1:1", "21:9", "2:3", "3:2", "4:5", "5:4", "9:16", "9:21"}
}

// ratioOf returns the ratio of a size; empty if Stability has none.
func ratioOf(width, height int) string {
	for _, r := range ratios() {
		w, h, _ := strings.Cut(r, ":")
		across, _ := strconv.Atoi(w)
		down, _ := strconv.Atoi(h)
		if width > 0 && width*down == height*across {
			return r
		}
	}
	return ""
}

// pictures is OpenAI's list of pictures.
type pictures struct {
	Created int64     `json:"created"`
	Data    []picture `json:"data"`
}

type picture struct {
	Data jsontext.Value `json:"b64_json"`
}

// drawn reads pictures.
func drawn(r *driver.Original, body []byte) (*pictures, error) {
	var in struct {
		Images  []jsontext.Value `json:"images"`
		Reasons []jsontext.Value `json:"finish_reasons"` // Stability's
		Error   jsontext.Value   `json:"error"`          // Amazon's

		looseProblem
	}
	if f := driver.ReadResponse(body, &in); f != nil {
		return nil, f
	}
	for _, r := range in.Reasons {
		if reason := driver.Text(r); strings.Contains(strings.ToLower(reason), "filter") {
			return nil, (&driver.Problem{Status: 400, Code: "content_filter", Message: reason}).Failure()
		}
	}
	out := &pictures{Created: r.Created, Data: []picture{}}
	for _, data := range in.Images {
		if data.Kind() == '"' {
			out.Data = append(out.Data, picture{data})
		}
	}
	switch {
	case len(out.Data) > 0:
		return out, nil
	case driver.Text(in.Error) != "":
		e := apiError{"ValidationException", driver.Text(in.Error)}
		return nil, e.failure(400)
	case driver.Given(in.Message):
		return nil, failureIn(driver.Text(in.Type), body)
	}
	return nil, driver.InvalidResponse("has no pictures")
}
