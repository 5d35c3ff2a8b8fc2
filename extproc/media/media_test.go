package media_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/modelgateway/modelgateway/extproc/media"
)

// le and be return integers as bytes, of the sizes of their types.
func le(list ...any) string { return packed(binary.LittleEndian, list) }
func be(list ...any) string { return packed(binary.BigEndian, list) }

func packed(order binary.ByteOrder, list []any) string {
	var b bytes.Buffer
	for _, v := range list {
		if s, ok := v.(string); ok {
			b.WriteString(s)
		} else if err := binary.Write(&b, order, v); err != nil {
			panic(err)
		}
	}
	return b.String()
}

func zeros(n int) string { return strings.Repeat("\x00", n) }

// wavFile is a file of 16-bit samples in stereo at 8000 Hz: 32000 bytes a second.
func wavFile(stated uint32, data int) string {
	format := le(uint16(1), uint16(2), uint32(8000), uint32(1), uint16(4), uint16(16))
	return "RIFF" + le(uint32(36+data)) + "WAVE" + "LIST" + le(uint32(3)) + "abc\x00" + "fmt " + le(uint32(16)) + format +
		"data" + le(stated) + zeros(data)
}

// mpeg is a frame of MPEG audio with the given header and size. text is at the place of a Xing header in stereo.
func mpeg(header uint32, size int, text string) string {
	frame := be(header) + zeros(32) + text
	return frame + zeros(size-len(frame))
}

// Frames of layer III in stereo, with 1152 samples.
const (
	cbr128 = 0xfffb9000 // MPEG 1, 128 kbit/s, 44100 Hz: 417 bytes
	vbr320 = 0xfffbe000 // MPEG 1, 320 kbit/s, 44100 Hz: 1044 bytes
	low16  = 0xfff32800 // MPEG 2, 16 kbit/s, 16000 Hz: 72 bytes, 576 samples
)

func id3(size int) string {
	return "ID3\x04\x00\x00" + string([]byte{0, 0, byte(size >> 7), byte(size & 0x7f)}) + strings.Repeat("\xff\xfb\x90\x00", size/4) + zeros(size%4)
}

// box is a box of an MP4 file.
func box(kind string, content ...string) string {
	body := strings.Join(content, "")
	return be(uint32(8+len(body))) + kind + body
}

func mp4File(rest ...string) string {
	return box("ftyp", "M4A ", be(uint32(0))) + strings.Join(rest, "")
}

// mvhd is a movie's header of version 0, and mvhd1 of version 1.
func mvhd(rate, units uint32) string {
	return box("mvhd", be(uint32(0), uint32(0), uint32(0), rate, units), zeros(80))
}

func mvhd1(rate uint32, units uint64) string {
	return box("mvhd", be(uint32(1<<24), uint64(0), uint64(0), rate, units), zeros(80))
}

// trak is a track with an identifier and a rate.
func trak(id, rate uint32) string {
	return box("trak", box("tkhd", be(uint32(7), uint32(0), uint32(0), id, uint32(0)), zeros(60)),
		box("mdia", box("mdhd", be(uint32(0), uint32(0), uint32(0), rate, uint32(0), uint32(0)))))
}

// moof is a fragment of track 1.
func moof(boxes ...string) string { return box("moof", box("traf", boxes...)) }

// flacFile has samples at 44100 Hz.
func flacFile(samples uint64) string {
	x := uint64(44100)<<44 | 1<<41 | 15<<36 | samples
	return "fLaC\x80" + string([]byte{0, 0, 34}) + zeros(10) + be(x) + zeros(16) + "\xff\xf8"
}

// page is a page of an Ogg file with one packet.
func page(flags byte, serial uint32, granule int64, packet string) string {
	segments := strings.Repeat("\xff", len(packet)/255) + string([]byte{byte(len(packet) % 255)})
	return "OggS\x00" + string([]byte{flags}) + le(granule, serial, uint32(0), uint32(0)) + string([]byte{byte(len(segments))}) + segments + packet
}

func opus(serial uint32, granules ...int64) string {
	out := page(2, serial, 0, "OpusHead\x01\x02"+le(uint16(312), uint32(44100), uint16(0))+"\x00") + page(0, serial, 0, "OpusTags")
	for _, g := range granules {
		out += page(0, serial, g, strings.Repeat("x", 300))
	}
	return out
}

// vorbis is the first page of stream 1.
func vorbis() string {
	return page(2, 1, 0, "\x01vorbis"+le(uint32(0))+"\x02"+le(uint32(44100))+zeros(14))
}

// el is an element of a WebM file, and open the beginning of one of unknown size.
func el(id string, content ...string) string {
	body := strings.Join(content, "")
	return id + be(uint64(len(body))|1<<56) + body
}

func open(id string) string { return id + "\x01\xff\xff\xff\xff\xff\xff\xff" }

const (
	ebml    = "\x1a\x45\xdf\xa3"
	segment = "\x18\x53\x80\x67"
	info    = "\x15\x49\xa9\x66"
	scale   = "\x2a\xd7\xb1"
	length  = "\x44\x89"
	cluster = "\x1f\x43\xb6\x75"
)

func webmFile(rest ...string) string {
	return el(ebml, el("\x42\x82", "webm")) + open(segment) + strings.Join(rest, "")
}

func TestDuration(t *testing.T) {
	second := strings.Repeat(mpeg(cbr128, 417, ""), 50) // 57600 samples at 44100 Hz
	const frames50 = 57600 * time.Second / 44100
	for _, c := range []struct {
		name, file string
		want       time.Duration
	}{
		{"WAV", wavFile(48000, 48000), 1500 * time.Millisecond},
		{"WAV with a chunk after the data", wavFile(48000, 48000) + "LIST" + le(uint32(4)) + "abcd", 1500 * time.Millisecond},
		{"WAV from a pipe, size 0", wavFile(0, 48000), 1500 * time.Millisecond},
		{"WAV from a pipe, largest size", wavFile(math.MaxUint32, 48000), 1500 * time.Millisecond},
		{"WAV of A-law", "RIFF\x00\x00\x00\x00WAVEfmt " + le(uint32(18), uint16(6), uint16(1), uint32(8000), uint32(8000), uint16(1), uint16(8), uint16(0)) + "data" + le(uint32(4000)) + zeros(4000), 500 * time.Millisecond},
		{"WAV of ADPCM", "RIFF\x00\x00\x00\x00WAVEfmt " + le(uint32(16), uint16(17), uint16(1), uint32(8000), uint32(4000), uint16(256), uint16(4)) + "data" + le(uint32(4000)) + zeros(4000), time.Second},
		{"RF64", "RF64\xff\xff\xff\xffWAVEds64" + le(uint32(28), uint64(0), uint64(32000), uint64(0), uint32(0)) + wavFile(math.MaxUint32, 32008)[24:], time.Second},

		{"MP3", second, frames50},
		{"MP3 with ID3", id3(1000) + id3(7) + second + "TAG" + zeros(125), frames50},
		{"MP3 with Xing", mpeg(cbr128, 417, "Xing"+be(uint32(1), uint32(1))) + second, frames50},
		{"MP3 with VBRI", mpeg(cbr128, 417, "VBRI") + second, frames50},
		{"MP3 with Info in MPEG 2", be(uint32(low16)) + zeros(17) + "Info" + zeros(47) + strings.Repeat(mpeg(low16, 72, ""), 10), 5760 * time.Second / 16000},
		{"MP3 of variable bit rate", mpeg(cbr128, 417, "Xing"+be(uint32(1), uint32(9))) + strings.Repeat(mpeg(vbr320, 1044, "")+mpeg(cbr128, 417, ""), 25), frames50},
		{"MP3 with garbage within", second + "\xff\xfb" + zeros(99) + second, 2 * frames50},
		{"MP3 with garbage before", zeros(1000) + second, frames50},
		{"MP3 with an incomplete frame", second + mpeg(cbr128, 417, "")[:100], frames50},
		{"two MP3 of different rates", second + strings.Repeat(mpeg(low16, 72, ""), 10), frames50 + 5760*time.Second/16000},
		{"layer I", strings.Repeat(be(uint32(0xffff1400))+zeros(28), 10), 3840 * time.Second / 48000},
		{"layer II", strings.Repeat(mpeg(0xfffd1400, 96, ""), 10), 11520 * time.Second / 48000},

		{"M4A", mp4File(box("moov", mvhd(1000, 2500)), box("mdat", zeros(100))), 2500 * time.Millisecond},
		{"M4A with the movie last, of 64 bits", mp4File(be(uint32(1))+"mdat"+be(uint64(16+100))+zeros(100), box("moov", mvhd1(44100, 88200))), 2 * time.Second},
		{"M4A in fragments", mp4File(box("moov", mvhd(1000, 0), trak(1, 48000), box("mvex", box("trex", be(uint32(0), uint32(1), uint32(1), uint32(1024), uint64(0))))),
			moof(box("tfhd", be(uint32(0), uint32(1))), box("tfdt", be(uint32(0), uint32(0))), box("trun", be(uint32(1), uint32(10), uint32(0)))), box("mdat", zeros(10)),
			moof(box("tfhd", be(uint32(0xb), uint32(1), uint64(0), uint32(1), uint32(960))), box("tfdt", be(uint32(1<<24), uint64(48000))), box("trun", be(uint32(0), uint32(50))))), 2 * time.Second},
		{"M4A in fragments with each sample's time", mp4File(box("moov", mvhd1(1000, math.MaxUint64), trak(1, 1000)),
			moof(box("tfhd", be(uint32(0), uint32(1))), box("tfdt", be(uint32(0), uint32(500))), box("trun", be(uint32(0x305), uint32(2), uint32(0), uint32(0), uint32(20), uint32(7), uint32(30), uint32(7)))),
			moof(box("tfhd", be(uint32(0), uint32(9))), box("trun", be(uint32(0), uint32(50))))), 550 * time.Millisecond},

		{"FLAC", flacFile(66150), 1500 * time.Millisecond},
		{"FLAC after ID3", id3(20) + flacFile(66150), 1500 * time.Millisecond},

		{"Opus", opus(7, 24000, 48312), time.Second},
		{"Opus with a page that ends no packet", opus(7, 48312, -1), time.Second},
		{"Opus with garbage", opus(7, 24000) + "OggS\xff\xff" + page(0, 7, 48312, "x"), time.Second},
		{"one Opus after another", opus(7, 48312) + opus(8, 24312), 1500 * time.Millisecond},
		{"Vorbis next to another stream", vorbis() + page(2, 2, 0, "\x80theora") + page(0, 2, 1<<40, "x") + page(0, 1, 44100, "x"), time.Second},
		{"Speex", page(2, 1, 0, "Speex   "+zeros(28)+le(uint32(16000))) + page(0, 1, 16000, "x"), time.Second},
		{"FLAC in Ogg", page(2, 1, 0, "\x7fFLAC\x01\x00\x00\x01"+flacFile(0)) + page(0, 1, 44100, "x"), time.Second},

		{"WebM", webmFile(el(info, el(scale, be(uint32(1000000))), el(length, be(float32(1500))))), 1500 * time.Millisecond},
		{"WebM in another scale", webmFile(el("\x11\x4d\x9b\x74", zeros(9)), el(info, el(length, be(float64(3000))), el(scale, "\x07\xa1\x20"))), 3 * time.Second},
		{"WebM without a time", webmFile(el(info, el(scale, be(uint32(1000000)))), open(cluster), el("\xe7", "\x00"), el("\xa3", "\x81\x00\x14\x80", "x"),
			open(cluster), el("\xe7", "\x03\xe8"), el("\xa3", "\x81\x01\xf4\x80", "x"), el("\xa0", el("\xa1", "\x81\x01\xe0\x00", "x"))), 1500 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := media.Duration([]byte(c.file))
			if !ok || (got-c.want).Abs() > time.Microsecond {
				t.Errorf("%v %v, want %v", got, ok, c.want)
			}
		})
	}
}

func TestNoDuration(t *testing.T) {
	for name, file := range map[string]string{
		"empty":                  "",
		"text":                   "a file that is no sound",
		"JSON":                   `{"model":"m","file":"abc"}`,
		"ID3 alone":              id3(100),
		"WAV without a format":   "RIFF\x00\x00\x00\x00WAVEdata" + le(uint32(4)) + "abcd",
		"WAV without channels":   strings.Replace(wavFile(8, 8), le(uint16(1), uint16(2)), le(uint16(1), uint16(0)), 1),
		"WAV without data":       wavFile(0, 0),
		"one frame of MP3":       "xx" + mpeg(cbr128, 417, "")[:300],
		"MP3 of free bit rate":   strings.Repeat(mpeg(0xfffb0000, 417, ""), 9),
		"M4A without a movie":    mp4File(box("mdat", zeros(100))),
		"M4A without a time":     mp4File(box("moov", mvhd(1000, 0))),
		"M4A without a rate":     mp4File(box("moov", mvhd(0, 1000))),
		"M4A of a century":       mp4File(box("moov", mvhd(1, 1<<31))),
		"M4A cut":                mp4File(box("moov", mvhd(1000, 2500)))[:60],
		"FLAC of unknown length": flacFile(0),
		"Ogg without sound":      page(2, 2, 0, "\x80theora") + page(0, 2, 1<<40, "x"),
		"Ogg of a century":       vorbis() + page(0, 1, 1<<60, "x"),
		"a century in pieces":    strings.Repeat(vorbis()+page(0, 1, 44100*3600*999, "x"), 2),
		"WebM without anything":  webmFile(),
		"WebM of a NaN":          webmFile(el(info, el(length, be(math.NaN())))),
		"WebM of a century":      webmFile(el(info, el(length, be(float64(1e30))))),
		"WebM of a long block":   webmFile(el(info, el(scale, be(uint64(1<<60)))), open(cluster), el("\xe7", "\xff\xff\xff\xff")),
	} {
		if d, ok := media.Duration([]byte(file)); ok {
			t.Errorf("%s: %v", name, d)
		}
	}
}

// FuzzDuration checks the bounds of results, and that parts of files and files with other bytes do not panic.
func FuzzDuration(f *testing.F) {
	for _, s := range []string{
		wavFile(480, 480), "RF64\xff\xff\xff\xffWAVEds64" + le(uint32(28), uint64(0), uint64(320), uint64(0), uint32(0)) + wavFile(math.MaxUint32, 328)[24:],
		id3(20) + strings.Repeat(mpeg(low16, 72, ""), 4), flacFile(10), opus(7, 24000, 48312) + vorbis(),
		mp4File(box("moov", mvhd(1000, 0), trak(1, 48000)), moof(box("tfhd", be(uint32(8), uint32(1), uint32(5))), box("tfdt", be(uint32(0), uint32(7))), box("trun", be(uint32(0x101), uint32(1), uint32(0), uint32(5))))),
		webmFile(el(info, el(length, be(float32(1500))))), webmFile(open(cluster), el("\xe7", "\x00"), el("\xa3", "\x81\x00\x14\x80", "x")),
	} {
		f.Add([]byte(s), uint(len(s)))
	}
	f.Fuzz(func(t *testing.T, file []byte, cut uint) {
		for _, b := range [][]byte{file, file[:cut%uint(len(file)+1)]} {
			d, ok := media.Duration(b)
			if ok && (d <= 0 || d > media.Longest) || !ok && d != 0 {
				t.Fatal(d, ok)
			}
		}
	})
}

// A file says by its beginning what it is.
func TestType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, want string }{
		{wavFile(4, 4), "audio/wav"},
		{mpeg(cbr128, 417, ""), "audio/mp3"},
		{mpeg(low16, 72, ""), "audio/mp3"},
		{id3(8) + mpeg(cbr128, 417, ""), "audio/mp3"},
		{id3(8) + "fLaC" + zeros(38), "audio/flac"},
		{"OggS" + zeros(24), "audio/ogg"},
		{"\x1a\x45\xdf\xa3" + zeros(24), "video/webm"},
		{box("ftyp", "M4A ", zeros(8)), "audio/m4a"},
		{box("ftyp", "isom", zeros(8)), "video/mp4"},
		{"RIFF" + zeros(4) + "AVI " + zeros(8), ""},
		{"\xff\xf1" + zeros(24), ""},
		{"RIFF", ""},
		{"", ""},
	} {
		if got := media.Type([]byte(c.file)); got != c.want {
			t.Errorf("%.12q is %q, want %q", c.file, got, c.want)
		}
	}
}
