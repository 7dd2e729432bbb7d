// Package research decides how a wiki grows: which sentences of a document are claims, which claims say the same, which
// contradict each other, when a run has converged, and what to look into next. It is pure: it reads no file, calls no
// model and knows no clock, so the same evidence makes the same wiki everywhere. It works by extraction alone, in English
// and Chinese; where a model is configured, the model chooses and phrases, and this package checks what it says.
package research
