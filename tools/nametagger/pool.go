package main

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pool draws names, places and words at random.
type pool struct {
	r       *rand.Rand
	lists   *lists
	locales []string // that have given and family names in Latin letters
	given   map[string][]string
	family  map[string][]string
	letters map[string][]rune // what follows two letters in family names
	cities  []string
	states  []string
	places  []string // countries
	nouns   []string
	verbs   []string
	adjs    []string
	adverbs []string
	orgs    []string
	jobs    []string
	demonym []string
}

func newPool(l *lists, seed uint64) *pool {
	r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // the same texts each time
	p := &pool{r: r, lists: l, given: map[string][]string{}, family: map[string][]string{}, letters: map[string][]rune{}}
	for _, name := range l.locales() {
		g, f := usable(l.Faker[name].Given, 1), usable(l.Faker[name].Family, 2)
		if len(g) > 30 && len(f) > 30 {
			p.given[name], p.family[name] = g, f
			p.locales = append(p.locales, name)
		}
		for _, f := range f {
			padded := []rune("^^" + strings.ToLower(f) + "$")
			for i := 2; i < len(padded); i++ {
				key := string(padded[i-2 : i])
				p.letters[key] = append(p.letters[key], padded[i])
			}
		}
	}
	for _, c := range l.Cities {
		if latin(c.Name) && len(split(c.Name)) <= 3 && !strings.ContainsAny(c.Name, "()/,") {
			p.cities = append(p.cities, c.Name)
		}
	}
	p.states = append(slices.Clone(l.States), usable(l.Faker["de"].State, 3)...)
	p.states = append(p.states, usable(l.Faker["en_IN"].State, 3)...)
	p.places = l.Countries
	common := func(tags ...string) (out []string) {
		for _, tag := range tags {
			for _, w := range l.Compromise[tag] {
				if !strings.ContainsAny(w, " '-.") && len(w) > 2 {
					out = append(out, w)
				}
			}
		}
		return out
	}
	p.nouns = append(common("Singular", "Plural", "Uncountable"), plainWords(l.Faker["en"].Words)...)
	p.verbs, p.adjs, p.adverbs = common("Infinitive"), common("Adjective"), common("Adverb")
	p.jobs, p.demonym = common("Actor"), common("Demonym")
	for _, tag := range []string{"Organization", "SportsTeam", "ProperNoun"} {
		for _, w := range l.Compromise[tag] {
			p.orgs = append(p.orgs, titled(w))
		}
	}
	for range 6 {
		p.orgs = append(p.orgs, companies()...)
	}
	return p
}

// usable returns the names in Latin letters with at most some words.
func usable(names []string, words int) (out []string) {
	for _, n := range names {
		if latin(n) && utf8.RuneCountInString(n) > 1 && len(strings.Fields(n)) <= words && !strings.ContainsAny(n, "()/.") {
			out = append(out, n)
		}
	}
	return out
}

// plainWords returns the words in lower case that are neither short nor composed.
func plainWords(words []string) (out []string) {
	for _, w := range words {
		if !strings.ContainsAny(w, " '-.") && len(w) > 3 {
			out = append(out, strings.ToLower(w))
		}
	}
	return out
}

// titled returns words with their first letters in upper case.
func titled(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if w != "of" && w != "and" && w != "the" && w != "for" {
			r, size := utf8.DecodeRuneInString(w)
			words[i] = string(unicode.ToUpper(r)) + w[size:]
		}
	}
	return strings.Join(words, " ")
}

func (p *pool) chance(percent int) bool { return p.r.IntN(100) < percent }

func (p *pool) one(from []string) string { return from[p.r.IntN(len(from))] }

// early draws from a list in the order of frequency, its first names more often.
func (p *pool) early(from []string, size int) string {
	f := p.r.Float64()
	return from[int(f*f*float64(min(size, len(from))))]
}

// personName is the name of a person.
type personName struct{ given, middle, family string }

func (p *pool) person() personName {
	var n personName
	switch locale := p.one(p.locales); {
	case p.chance(35):
		first := p.lists.Census.Female
		if p.chance(50) {
			first = p.lists.Census.Male
		}
		n = personName{given: title(p.early(first, 1000)), family: title(p.early(p.lists.Census.Family, 8000))}
	default:
		n = personName{given: p.one(p.given[locale]), family: p.one(p.family[locale])}
		if p.chance(10) {
			n.given = p.one(p.given[p.one(p.locales)])
		}
	}
	if p.chance(8) {
		n.family = p.invent()
	}
	if p.chance(4) {
		n.given = p.invent()
	}
	switch k := p.r.IntN(100); {
	case k < 6:
		n.middle = string(rune('A'+p.r.IntN(26))) + "."
	case k < 12:
		n.middle = p.one(p.given[p.one(p.locales)])
	case k < 15:
		n.given += "-" + p.one(p.given[p.one(p.locales)])
	case k < 18:
		n.family += " " + p.one(p.family[p.one(p.locales)])
	case k < 20:
		n.family += "-" + p.one(p.family[p.one(p.locales)])
	case k < 24:
		n.family = p.one([]string{"van", "van der", "de", "de la", "von", "di", "al", "bin", "da", "dos", "Mc", "O'"}) + " " + n.family
		n.family = strings.NewReplacer("Mc ", "Mc", "O' ", "O'", "al ", "al-").Replace(n.family)
	}
	return n
}

func (n personName) full() string {
	if n.middle == "" {
		return n.given + " " + n.family
	}
	return n.given + " " + n.middle + " " + n.family
}

// invent makes a name that no list has, with the letters of family names.
func (p *pool) invent() string {
	for {
		out := []rune("^^")
		for len(out) < 14 {
			next := p.letters[string(out[len(out)-2:])]
			if len(next) == 0 {
				break
			}
			r := next[p.r.IntN(len(next))]
			if r == '$' {
				break
			}
			out = append(out, r)
		}
		if name := titled(string(out[2:])); len(out) > 5 && len(out) < 13 && !strings.ContainsAny(name, " -'’") {
			return name
		}
	}
}

func (p *pool) city() string {
	if p.chance(75) {
		return p.early(p.cities, 2000)
	}
	return p.early(p.cities, 20000)
}

// slot returns the text of a slot that is no name of a person.
func (p *pool) slot(name string) (text string, place bool) {
	switch name {
	case "city":
		if p.chance(8) {
			return p.one(p.places), true
		}
		return p.city(), true
	case "country":
		if p.chance(10) {
			return p.one([]string{"USA", "UK", "US", "UAE", "U.S.", "America", "Europe", "Asia", "Africa", "England", "Scotland", "Wales", "Holland", "Korea", "the Netherlands", "the Philippines"}), true
		}
		return p.one(p.places), true
	case "state":
		return p.one(p.states), true
	case "st":
		return p.one(stateCodes()), true
	case "thing":
		return p.one(things()), false
	case "nation":
		return p.one([]string{"US", "US", "U.S.", "U.S.", "UK", "U.K.", "USA"}), true
	case "town":
		return p.one([]string{"NYC", "LA", "SF", "DC", "Philly", "Vegas", "Frisco", "NY"}), true
	case "org":
		return p.org(), false
	case "product":
		return titled(p.one(p.adjs)) + " " + titled(p.one(p.nouns)), false
	case "street":
		return p.one([]string{titled(p.one(p.nouns)), title(p.one(p.lists.Census.Family[:3000]))}) + " " + p.one([]string{"Street", "Road", "Avenue", "Lane", "Drive", "Way", "Court"}), true
	case "eponym":
		return p.one(strings.Fields("effect theorem number constant model test scale score series space spaces group groups transform distribution equation method principle paradox conjecture curve index cycle reaction disease syndrome lymphoma sign reflex procedure maneuver catheter telescope comet crater Act Amendment Plan Doctrine Report Commission Accord Rule rule rights reform Award Medal Prize Trophy Cup Museum Library engine valve drive knife screwdriver terrier setter")), false
	case "address":
		return p.address(), true
	case "facility":
		return p.facility(), true
	case "orgsuffix":
		return p.one(strings.Fields("Inc Inc. Ltd LLC GmbH Corp Group Bank Motors Brothers Capital Holdings Electronics Foods Pharma Software Labs Systems Hotel Airlines Records Books Press Insurance Consulting PLC AG")), false
	case "lower":
		return strings.ToLower(p.person().given), false
	case "initial":
		return string(rune('A' + p.r.IntN(26))), false
	}
	if text := p.figure(name); text != "" {
		return text, false
	}
	return p.common(name), false
}

func (p *pool) org() string {
	switch k := p.r.IntN(10); {
	case k < 3:
		return p.invent() + p.one([]string{"", " Inc", " Ltd", " GmbH", " Group", " AG", " Corp"})
	case k < 4:
		return titled(p.one(p.nouns)) + " " + titled(p.one(p.nouns))
	}
	return p.one(p.orgs)
}

func (p *pool) figure(name string) string {
	digits := func(n int) string {
		b := []byte{byte('1' + p.r.IntN(9))}
		for len(b) < n {
			b = append(b, byte('0'+p.r.IntN(10)))
		}
		return string(b)
	}
	months := strings.Fields("January February March April May June July August September October November December")
	switch name {
	case "num":
		return digits(1 + p.r.IntN(5))
	case "digit":
		return digits(1)
	case "two":
		return digits(2)
	case "month":
		return p.one(months)
	case "day":
		return p.one(strings.Fields("Monday Tuesday Wednesday Thursday Friday Saturday Sunday"))
	case "date":
		return p.one([]string{digits(1) + " " + p.one(months) + " 20" + digits(2), p.one(months) + " " + digits(1) + ", 19" + digits(2), "20" + digits(2) + "-0" + digits(1) + "-1" + digits(1), "0" + digits(1) + "/1" + digits(1) + "/19" + digits(2)})
	case "time":
		return p.one([]string{digits(1) + ":30", "1" + digits(1) + ":15 PM", digits(1) + " am"})
	case "phone":
		return p.one([]string{"+" + digits(2) + " " + digits(3) + " " + digits(6), "(" + digits(3) + ") " + digits(3) + "-" + digits(4)})
	case "email":
		return strings.ToLower(p.invent()) + p.one([]string{"", digits(2), "." + strings.ToLower(p.invent())}) + "@example." + p.one([]string{"com", "org", "net"})
	}
	return ""
}

func (p *pool) common(name string) string {
	switch name {
	case "word":
		return p.one(p.nouns)
	case "Word":
		return titled(p.one(p.nouns))
	case "WORD":
		return strings.ToUpper(p.one(p.nouns))
	case "verb":
		return p.one(p.verbs)
	case "Verb":
		return titled(p.one(p.verbs))
	case "adjective":
		return p.one(p.adjs)
	case "Adjective":
		return titled(p.one(p.adjs))
	case "Adverb":
		return titled(p.one(p.adverbs))
	case "lowjob":
		return p.one(p.jobs)
	case "Job", "job":
		return titled(p.one(p.jobs))
	case "demonym":
		return titled(p.one(p.demonym))
	case "language":
		return p.one(strings.Fields("English German French Spanish Italian Polish Russian Arabic Hindi Dutch Portuguese Swedish Turkish Greek Latin Korean Japanese Chinese"))
	case "title":
		return p.one(strings.Fields("Mr. Mrs. Ms. Mr Mrs Ms Dr. Dr Miss Prof. Professor"))
	case "relative":
		return p.one(strings.Fields("brother sister wife husband son daughter mother father friend boss neighbour colleague cousin aunt uncle girlfriend boyfriend roommate teacher doctor landlord grandmother grandfather boyfriend partner client"))
	}
	panic("templates.txt has no slot " + name)
}

// address returns a street with a number, in the forms of some countries. Many streets are named after persons.
func (p *pool) address() string {
	n := p.figure("num")
	name := p.one([]string{p.person().full(), p.person().family, p.person().family, p.person().given, titled(p.one(p.nouns)), p.one(p.cities)})
	switch p.r.IntN(4) {
	case 0:
		return p.one(strings.Fields("Calle Via Rue Rua Avenida Piazza Plaza Strada Ulica Camino Avenue Boulevard")) + " " + name + p.one([]string{" ", ", "}) + n
	case 1:
		return name + p.one([]string{"straße", "weg", "gatan", "straat", "laan", "gade", "platz", "allee", "katu", "vägen"}) + " " + n
	case 2:
		return n + " " + name + " " + p.one(strings.Fields("Street Road Avenue Lane Drive Way Court St Ave Rd Blvd Crescent Square Gardens Parkway Plains Groves Mills Ville Port"))
	}
	return p.one(strings.Fields("Flat Suite Apt. Unit Studio")) + " " + p.figure("digit") + p.one([]string{" ", ", "}) + name + " " + p.one(strings.Fields("Street Road Avenue Lane Drive Way Walk Hill Park Garden Springs Island Harbor Village"))
}

// facility returns the name of a place within a city or a landscape.
func (p *pool) facility() string {
	name := p.one([]string{p.person().family, title(p.one(p.lists.Census.Family[:3000])), titled(p.one(p.nouns)), titled(p.one(p.adjs)), p.one(p.cities), p.one(p.demonym)})
	switch p.r.IntN(4) {
	case 0:
		return p.one(strings.Fields("Lake Mount Cape Fort Port Point Saint Camp Isle")) + " " + titled(name)
	case 1:
		return titled(name) + " " + p.one(strings.Fields("Street Avenue Road Square Boulevard Highway Bridge Tunnel Plaza Alley"))
	case 2:
		return titled(name) + " " + p.one(strings.Fields("Lake River Island Islands Mountains Hills Valley Bay Beach Forest Creek Canyon Falls Desert Peninsula Coast County District Province"))
	}
	return titled(name) + " " + p.one(strings.Fields("Park Airport Station Stadium Tower Castle Palace Cathedral Garden Gardens Hall Center Centre Mall Harbor Pier Theatre Library Museum"))
}
