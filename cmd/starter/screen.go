package main

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"whetstone/learning"
	"whetstone/review"
)

// screen shows one thing to decide on at a time.
type screen struct {
	desk  *desk
	mode  string // "" decides; edit, link, turn take a line
	input textinput.Model
	said  string // what went wrong, or was done
	width int
	style styles
}

type styles struct{ title, dim, rule, warn, key lipgloss.Style }

func newScreen(d *desk, colour bool) screen {
	st := styles{lipgloss.NewStyle(), lipgloss.NewStyle(), lipgloss.NewStyle(), lipgloss.NewStyle(), lipgloss.NewStyle()}
	if colour {
		st = styles{
			title: lipgloss.NewStyle().Bold(true), dim: lipgloss.NewStyle().Faint(true), rule: lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("6")),
			warn: lipgloss.NewStyle().Foreground(lipgloss.Color("1")), key: lipgloss.NewStyle().Foreground(lipgloss.Color("2")),
		}
	}
	in := textinput.New()
	in.CharLimit = learning.MaxField
	return screen{desk: d, input: in, width: 80, style: st}
}

// Init starts nothing.
func (m screen) Init() tea.Cmd { return nil }

// Update takes a key.
func (m screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width = max(40, min(msg.Width, 110))
		m.input.SetWidth(m.width - 4)
	case tea.KeyPressMsg:
		if m.mode != "" {
			return m.typing(msg)
		}
		return m.deciding(msg.String())
	case tea.PasteMsg: // text for a line, and no row of decisions
		if m.mode != "" {
			var cmd tea.Cmd
			m.input, cmd = m.input.Update(msg)
			return m, cmd
		}
	}
	return m, nil
}

func (m screen) deciding(key string) (tea.Model, tea.Cmd) {
	it := m.desk.current()
	m.said = ""
	var err error
	switch key {
	case "q", "ctrl+c":
		return m, tea.Quit
	case "u":
		err = m.desk.back()
		if err == nil {
			m.said = "taken back"
		}
		it = nil // nothing more to do
	}
	if it == nil {
		m.fail(err)
		return m, nil
	}
	switch {
	case key == "n" || key == "space" || key == "s" && it.Note != nil:
		m.desk.skip()
	case it.Note != nil && key == "d", it.Note != nil && key == "r":
		err = m.desk.dismiss()
	case it.Note != nil && (key == "a" || key == "e"):
		m.ask("turn", "category: rule", "")
	case it.Learning == nil:
	case key == "a":
		err = m.desk.setStatus(learning.Approved)
	case key == "r":
		err = m.desk.setStatus(learning.Rejected)
	case key == "e":
		m.ask("edit", "the rule", it.Learning.Rule)
	case key == "l":
		proposal := it.Learning.Skill
		if len(it.Learning.Skills) > 0 {
			proposal = ""
		}
		m.ask("link", "the skill's name", proposal)
	case key == "s" && len(it.Neighbours) == 1:
		err = m.desk.supersede(0)
	case key == "s" && len(it.Neighbours) > 1:
		m.ask("supersede", "the number of the one that it replaces", "")
	case key == "s":
		m.said = "there is no other learning beside it that it could replace"
	}
	m.fail(err)
	if m.desk.current() == nil && m.mode == "" {
		return m, tea.Quit
	}
	return m, nil
}

func (m *screen) fail(err error) {
	if err != nil {
		m.said = err.Error()
	}
}

func (m *screen) ask(mode, prompt, value string) {
	m.mode = mode
	m.input.Prompt = prompt + "> "
	m.input.SetValue(value)
	m.input.CursorEnd()
	m.input.Focus()
}

func (m screen) typing(msg tea.KeyPressMsg) (tea.Model, tea.Cmd) {
	switch msg.String() {
	case "esc", "ctrl+c":
		m.mode = ""
		return m, nil
	case "enter", "ctrl+j":
		mode, text := m.mode, m.input.Value()
		m.mode = ""
		var err error
		switch mode {
		case "edit":
			err = m.desk.edit(text)
		case "link":
			err = m.desk.link(text)
		case "turn":
			err = m.desk.turn(text)
		case "supersede":
			n, nerr := strconv.Atoi(strings.TrimSpace(text))
			if err = nerr; err == nil {
				err = m.desk.supersede(n - 1)
			}
		}
		m.said = ""
		m.fail(err)
		if m.desk.current() == nil {
			return m, tea.Quit
		}
		return m, nil
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return m, cmd
}

// View draws the screen.
func (m screen) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	return v
}

func (m screen) draw() string {
	it := m.desk.current()
	if it == nil {
		return ""
	}
	var b strings.Builder
	wrap := lipgloss.NewStyle().Width(m.width)
	line := func(st lipgloss.Style, format string, args ...any) {
		b.WriteString(wrap.Render(st.Render(printable(fmt.Sprintf(format, args...)))) + "\n")
	}
	line(m.style.dim, "%d of %d   %s", m.desk.at+1, len(m.desk.items), m.desk.summary())
	b.WriteByte('\n')
	var keys string
	switch {
	case it.Note != nil:
		line(m.style.title, "You corrected the agent, and no rule came of it")
		line(m.style.dim, "%s, %s", it.Note.Host, it.Note.At.Local().Format("2006-01-02 15:04"))
		b.WriteByte('\n')
		line(m.style.rule, "%s", it.Note.Excerpt)
		keys = "a make a learning of it   d dismiss   n next   u undo   q quit"
	default:
		m.card(line, *it)
		keys = "a approve   r reject   e edit   l link to a skill   s supersede   n next   u undo   q quit"
	}
	b.WriteByte('\n')
	if m.said != "" {
		line(m.style.warn, "%s", m.said)
	}
	if m.mode != "" {
		b.WriteString(m.input.View() + "\n")
		line(m.style.dim, "enter takes it, esc leaves it")
	} else {
		line(m.style.key, "%s", keys)
	}
	return b.String()
}

func (m screen) card(line func(lipgloss.Style, string, ...any), it review.Item) {
	l := it.Learning
	head := "Pending"
	if l.Flag != "" {
		head = "Approved, but " + l.Flag
	}
	line(m.style.title, "%s: %s", head, l.Category)
	line(m.style.dim, "%s, seen %d time(s), %s, %s", l.ID, l.Observations, l.Host, l.CreatedAt.Local().Format("2006-01-02 15:04"))
	line(m.style.dim, "")
	line(m.style.rule, "%s", l.Rule)
	if l.Mistake != "" {
		line(lipgloss.NewStyle(), "Mistake:    %s", l.Mistake)
	}
	if l.Correction != "" {
		line(lipgloss.NewStyle(), "Correction: %s", l.Correction)
	}
	if len(l.Skills) > 0 {
		line(lipgloss.NewStyle(), "Skill:      %s", strings.Join(l.Skills, ", "))
	}
	if l.Wiki != "" {
		line(lipgloss.NewStyle(), "Wiki:       %s", l.Wiki)
	}
	for i, n := range it.Neighbours {
		if i == 0 {
			line(m.style.dim, "")
		}
		st := m.style.dim
		if n.Relation == review.Contradicts {
			st = m.style.warn
		}
		line(st, "%d  %s %s (%s): %s", i+1, relationWord(n.Relation), n.Learning.ID, n.Learning.Status, n.Learning.Rule)
	}
}
