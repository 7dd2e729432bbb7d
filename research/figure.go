package research

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"

	"whetstone/internal/words"
)

// figure is a number in a claim, in the base unit of its dimension.
type figure struct {
	value  float64
	dim    string // length, time, ..., "count:<stem>" for things that are counted, "" where nothing is said
	approx bool   // about, nearly, ...
	places float64
	year   bool
	clock  bool
	bound  bool // "over 65": a limit on whom the claim is about
	at     int  // byte offset in the normalised text
	end    int
}

type unit struct {
	dim    string
	factor float64
}

var units = func() map[string]unit {
	m := map[string]unit{}
	add := func(dim string, factor float64, names ...string) {
		for _, n := range names {
			m[n] = unit{dim, factor}
		}
	}
	add("percent", 1, "%", "percent", "per cent", "pct", "个百分点")
	add("length", 1, "m", "metre", "metres", "meter", "meters", "米")
	add("length", 1000, "km", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米")
	add("length", 0.01, "cm", "centimetres", "centimeters", "厘米")
	add("length", 0.001, "mm", "millimetres", "millimeters", "毫米")
	add("length", 1e-9, "nm", "nanometres", "nanometers", "纳米")
	add("length", 1609.344, "mi", "mile", "miles", "英里")
	add("length", 0.3048, "ft", "feet", "foot", "英尺")
	add("area", 1, "m²", "m2", "square metres", "square meters", "平方米")
	add("area", 1e6, "km²", "km2", "square kilometres", "square kilometers", "平方公里", "平方千米")
	add("area", 1e4, "ha", "hectares", "hectare", "公顷")
	add("volume", 1000, "cubic metres", "cubic meters", "m³", "m3", "立方米")
	add("volume", 1, "l", "litre", "litres", "liter", "liters", "升")
	add("volume", 0.001, "ml", "millilitres", "milliliters", "毫升")
	add("mass", 1, "kg", "kilogram", "kilograms", "kilo", "kilos", "公斤", "千克")
	add("mass", 0.001, "g", "gram", "grams", "克")
	add("mass", 1e-6, "mg", "milligram", "milligrams", "毫克")
	add("mass", 1e-9, "µg", "μg", "microgram", "micrograms", "微克")
	add("mass", 1000, "t", "tonne", "tonnes", "ton", "tons", "吨")
	add("mass", 0.45359237, "lb", "lbs", "pound", "pounds", "磅")
	add("time", 1e-9, "ns", "nanosecond", "nanoseconds", "纳秒")
	add("time", 1e-6, "µs", "μs", "us", "microsecond", "microseconds", "微秒")
	add("time", 0.001, "ms", "millisecond", "milliseconds", "毫秒")
	add("time", 1, "s", "sec", "secs", "second", "seconds", "秒", "秒钟")
	add("time", 60, "min", "mins", "minute", "minutes", "分钟")
	add("time", 3600, "h", "hr", "hrs", "hour", "hours", "小时")
	add("time", 86400, "d", "day", "days", "天", "日")
	add("time", 7*86400, "week", "weeks", "周", "星期")
	add("time", 30*86400, "month", "months", "个月")
	add("time", 365*86400, "year", "years")
	add("data", 1, "byte", "bytes", "字节")
	add("data", 1e3, "kb", "kilobyte", "kilobytes")
	add("data", 1e6, "mb", "megabyte", "megabytes")
	add("data", 1e9, "gb", "gigabyte", "gigabytes")
	add("data", 1e12, "tb", "terabyte", "terabytes")
	add("data", 1<<10, "kib")
	add("data", 1<<20, "mib")
	add("data", 1<<30, "gib")
	add("data", 1<<40, "tib")
	add("bits", 1, "bit", "bits", "位", "比特")
	add("rate", 1e6, "mbps", "mbit/s")
	add("rate", 1e9, "gbps", "gbit/s")
	add("power", 1, "w", "watt", "watts", "瓦")
	add("power", 1e3, "kw", "kilowatt", "kilowatts", "千瓦")
	add("power", 1e6, "mw", "megawatt", "megawatts", "兆瓦")
	add("power", 1e9, "gw", "gigawatt", "gigawatts", "吉瓦")
	add("energy", 1, "wh", "瓦时")
	add("energy", 1e3, "kwh", "千瓦时")
	add("energy", 1e6, "mwh", "兆瓦时")
	add("frequency", 1, "hz", "hertz", "赫兹")
	add("frequency", 1e3, "khz")
	add("frequency", 1e6, "mhz")
	add("frequency", 1e9, "ghz")
	add("speed", 1, "m/s")
	add("speed", 1/3.6, "km/h", "kph", "kmh")
	add("speed", 0.44704, "mph")
	add("voltage", 1, "v", "volt", "volts", "伏")
	add("celsius", 1, "°c", "℃", "degrees celsius", "celsius", "摄氏度")
	add("fahrenheit", 1, "°f", "℉", "degrees fahrenheit", "fahrenheit", "华氏度")
	add("angle", 1, "°", "degree", "degrees", "度")
	add("usd", 1, "dollar", "dollars", "usd", "美元")
	add("eur", 1, "euro", "euros", "eur", "欧元")
	add("cny", 1, "yuan", "cny", "rmb", "元", "元人民币")
	return m
}()

var scales = map[string]float64{
	"hundred": 100, "thousand": 1e3, "k": 1e3, "million": 1e6, "bn": 1e9, "billion": 1e9, "trillion": 1e12,
	"十": 10, "百": 100, "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8, "万亿": 1e12,
}

var numberWords = map[string]float64{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
	"nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
	"dozen": 12,
	"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}

var ordinals = words.Set(strings.Fields("first second third fourth fifth sixth seventh eighth ninth tenth"))

var cjkDigits = map[rune]float64{'一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9, '十': 10}

var (
	numberRE = regexp.MustCompile(`[-−–]?\d[\d,]*(?:\.\d+)*`)
	wordRE   = regexp.MustCompile(`[a-z]+(?:-[a-z]+)?`)
	cjkNumRE = regexp.MustCompile(`[一二两三四五六七八九十]+`)
	approxRE = regexp.MustCompile(`(?:about|around|approximately|roughly|nearly|almost|some|circa|ca\.|over|more than|up to|at least|at most|close to|just under|just over|an estimated|~|≈|约|大约|近|将近|超过|左右)\s*(?:[$€£¥]\s*)?$`)
	boundRE  = regexp.MustCompile(`(?:patients|people|adults|children|men|women|users|customers|aged|those|companies|files|inputs|values|nodes|clusters)[a-z ]{0,12}(?:over|under|above|below|older than|younger than|larger than|smaller than|more than|fewer than)\s*$`)
	// 当...时: what stands in between is the condition.
	hanCondition = regexp.MustCompile(`^[^，。；,;]{0,24}时[，,]`)
	everyRE      = regexp.MustCompile(`(?:every|each|per)\s+$`)
	clockRE      = regexp.MustCompile(`\b([01]?\d|2[0-3]):([0-5]\d)\b`)
	unitRE       = regexp.MustCompile(`^[\s-]*(个百分点|元人民币|[a-zµμ°%℃℉]+[²³23]?(?:/[a-z]+)?|[\p{Han}]{1,4})`)
	phrases      = []struct {
		text  string
		value float64
		dim   string
	}{
		{"one in two", 50, "percent"},
		{"one in three", 100.0 / 3, "percent"},
		{"one in four", 25, "percent"},
		{"one in five", 20, "percent"},
		{"one in ten", 10, "percent"},
		{"in half", 50, "percent"},
		{"by half", 50, "percent"},
		{"one half", 50, "percent"},
		{"half of", 50, "percent"},
		{"a quarter of", 25, "percent"},
		{"a third of", 100.0 / 3, "percent"},
		{"two thirds of", 200.0 / 3, "percent"},
		{"three quarters of", 75, "percent"},
		{"一半", 50, "percent"},
		{"halved", 50, "percent"},
	}
)

// figures lists the numbers of a text. Versions are left to scope; dates are figures of dimension year, or clock.
func figures(text string) []figure {
	s := strings.ToLower(norm.NFKC.String(strings.ReplaceAll(text, "−", "-")))
	var out []figure
	taken := make([]bool, len(s)+1)
	mark := func(from, to int) {
		for i := from; i < to; i++ {
			taken[i] = true
		}
	}
	for _, p := range phrases {
		if i := strings.Index(s, p.text); i >= 0 && !taken[i] {
			out = append(out, figure{value: p.value, dim: p.dim, approx: true, at: i, end: i + len(p.text)})
			mark(i, i+len(p.text))
		}
	}
	for _, m := range clockRE.FindAllStringSubmatchIndex(s, -1) {
		h, _ := strconv.ParseFloat(s[m[2]:m[3]], 64)
		mi, _ := strconv.ParseFloat(s[m[4]:m[5]], 64)
		out = append(out, figure{value: h*60 + mi, dim: "clock", clock: true, at: m[0], end: m[1]})
		mark(m[0], m[1])
	}
	for _, m := range numberRE.FindAllStringIndex(s, -1) {
		if taken[m[0]] || (m[0] > 0 && partOfWord(s, m[0])) {
			continue
		}
		raw := s[m[0]:m[1]]
		raw = strings.TrimPrefix(raw, "–")
		raw = strings.TrimRight(raw, ",.")
		if strings.Count(raw, ".") > 1 {
			continue // a version
		}
		v, err := strconv.ParseFloat(strings.ReplaceAll(raw, ",", ""), 64)
		if err != nil {
			continue
		}
		f := figure{value: v, at: m[0], end: m[0] + len(raw)}
		if i := strings.IndexByte(raw, '.'); i >= 0 {
			f.places = float64(len(raw) - i - 1)
		} else {
			f.places = -trailingZeros(raw)
		}
		f.finish(s)
		f.rhythm(s)
		mark(m[0], f.end)
		out = append(out, f)
	}
	for _, m := range wordRE.FindAllStringIndex(s, -1) {
		v, ok := numberWord(s[m[0]:m[1]])
		if !ok || taken[m[0]] {
			continue
		}
		f := figure{value: v, at: m[0], end: m[1]}
		f.finish(s)
		f.rhythm(s)
		if ordinals[s[m[0]:m[1]]] {
			f.dim = "ordinal"
		}
		out = append(out, f)
	}
	for _, m := range cjkNumRE.FindAllStringIndex(s, -1) {
		if taken[m[0]] {
			continue
		}
		r := []rune(s[m[0]:m[1]])
		v := cjkDigits[r[0]]
		switch {
		case len(r) == 2 && r[1] == '十':
			v *= 10
		case len(r) == 2 && r[0] == '十':
			v = 10 + cjkDigits[r[1]]
		case len(r) == 3 && r[1] == '十':
			v = v*10 + cjkDigits[r[2]]
		case len(r) > 1:
			continue
		}
		f := figure{value: v, at: m[0], end: m[1]}
		f.finish(s)
		if f.dim != "" { // 一 is in many words
			out = append(out, f)
		}
	}
	return out
}

func partOfWord(s string, i int) bool {
	prev := rune(s[i-1])
	return prev >= 'a' && prev <= 'z' || prev == '_' || prev >= '0' && prev <= '9' || (prev == '-' && i > 1 && s[i-2] >= 'a' && s[i-2] <= 'z')
}

func trailingZeros(raw string) float64 {
	n := len(raw) - len(strings.TrimRight(raw, "0"))
	if n == len(raw) {
		return 0
	}
	return float64(n)
}

func numberWord(w string) (float64, bool) {
	if v, ok := numberWords[w]; ok {
		return v, true
	}
	a, b, ok := strings.Cut(w, "-")
	if !ok {
		return 0, false
	}
	x, okx := numberWords[a]
	y, oky := numberWords[b]
	if okx && oky && x >= 20 && y < 10 {
		return x + y, true
	}
	return 0, false
}

// finish reads what stands around a number: approximation before it, scale and unit behind it.
func (f *figure) finish(s string) {
	f.approx = approxRE.MatchString(s[:f.at])
	f.bound = boundRE.MatchString(s[:f.at]) || hanCondition.MatchString(s[f.at:]) && strings.Contains(s[:f.at], "当")
	lead := strings.TrimRight(s[:f.at], " ")
	for sign, dim := range map[string]string{"$": "usd", "€": "eur", "£": "gbp", "¥": "cny"} {
		if strings.HasSuffix(lead, sign) {
			f.dim = dim
		}
	}
	rest := s[f.end:]
	for {
		name, n := unitAt(rest)
		if name == "" {
			break
		}
		if k, ok := scales[name]; ok {
			f.value *= k
			f.places -= math.Log10(k)
			rest = rest[n:]
			f.end += n
			continue
		}
		break
	}
	if strings.HasPrefix(rest, "年") {
		if f.value >= 1000 && f.value <= 2200 {
			f.dim, f.year = "year", true
		} else {
			f.dim = "time"
			f.value *= 365 * 86400
		}
		f.end += len("年")
		return
	}
	if strings.HasPrefix(rest, "月") {
		f.dim = "month"
		f.end += len("月")
		return
	}
	if name, n := unitAt(rest); name != "" {
		if u, ok := units[name]; ok && f.dim == "" {
			f.dim, f.value = u.dim, f.value*u.factor
			if u.factor != 1 {
				f.places -= math.Log10(u.factor)
			}
			if u.dim == "fahrenheit" {
				f.dim, f.value = "celsius", (f.value-32)/1.8
			}
			f.end += n
			if strings.HasPrefix(s[f.end:], "左右") || strings.HasPrefix(s[f.end:], "多") {
				f.approx = true
			}
			return
		}
	}
	if f.dim == "" && f.places == 0 || f.dim == "" && f.places < 0 {
		if f.value >= 1000 && f.value <= 2200 && f.end-f.at == 4 {
			f.dim, f.year = "year", true
			return
		}
	}
	if f.dim == "" {
		f.dim = countedThing(rest)
	}
}

// rhythm makes how often another dimension than how long: every forty minutes, in 310 milliseconds.
func (f *figure) rhythm(s string) {
	if f.dim == "time" && everyRE.MatchString(s[:f.at]) {
		f.dim = "interval"
	}
}

// unitAt reads a unit or a scale at the start of s.
func unitAt(s string) (string, int) {
	for _, two := range []string{"square kilometres", "square kilometers", "square metres", "square meters", "cubic metres", "cubic meters", "per cent", "degrees celsius", "degrees fahrenheit"} {
		if strings.HasPrefix(strings.TrimLeft(s, " "), two) {
			return two, len(s) - len(strings.TrimLeft(s, " ")) + len(two)
		}
	}
	m := unitRE.FindStringSubmatchIndex(s)
	if m == nil {
		return "", 0
	}
	name := s[m[2]:m[3]]
	if r := []rune(name); len(r) > 0 && words.IsCJK(r[0]) {
		for n := len(r); n > 0; n-- {
			w := string(r[:n])
			if _, ok := units[w]; ok {
				return w, m[2] + len(w)
			}
			if _, ok := scales[w]; ok {
				return w, m[2] + len(w)
			}
		}
		return "", 0
	}
	if _, ok := units[name]; !ok {
		if _, ok := scales[name]; !ok {
			return "", 0
		}
	}
	return name, m[3]
}

// countedThing is the dimension of a bare number: what is counted, as a stem.
func countedThing(rest string) string {
	n := 0
	if i := strings.IndexAny(rest, ",.;:()，。；："); i >= 0 {
		rest = rest[:i]
	}
	for _, t := range words.Tokens(clipBytes(rest, 60)) {
		if n++; n > 4 {
			break
		}
		if words.Content(t)[t] {
			return "count:" + t
		}
	}
	return ""
}

func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

// same reports whether two figures of one dimension can both be true of one thing: equal, or one is a rounding of the
// other.
func (f figure) same(g figure) bool {
	if f.value == g.value {
		return true
	}
	diff := math.Abs(f.value - g.value)
	rel := diff / math.Max(math.Abs(f.value), math.Abs(g.value))
	if f.year || f.clock || g.year || g.clock {
		return false
	}
	if physical := f.dim != "" && !strings.HasPrefix(f.dim, "count:"); physical && rel <= 0.005 {
		return true // a port or a head count is exact, a length is measured
	}
	if f.approx || g.approx {
		return rel <= 0.1
	}
	// One says fewer digits: 3.4 million and 3,437,000. A round number counts as rounded only if it has zeros or places to
	// round to, and both do not claim the same precision.
	coarse, fine := f, g
	if g.places < f.places {
		coarse, fine = g, f
	}
	if coarse.places < fine.places {
		step := math.Pow(10, -coarse.places)
		return math.Abs(coarse.value-fine.value) <= step/2 && rel <= 0.05
	}
	return false
}
