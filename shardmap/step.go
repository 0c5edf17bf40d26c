package shardmap

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// Limits of a stored map.
const (
	// MaxVersions is how many versions a lane can have in its life, withdrawn ones too.
	MaxVersions = 64
	// maxText bounds what is stored with a step: who took it, and a digest.
	maxText = 128
)

// command is a step that somebody asks for.
type command struct {
	lane     string
	step     Step
	by       string
	version  int // which is to take the step; StepPropose finds it
	m        Map // StepCreate and StepPropose; the version does not count
	from     time.Time
	rules    Rules // StepCreate
	evidence Evidence
}

// token recognises a repeat of the same command, by whomever. It is stored with the step, and stays there.
func (c command) token() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %s %q %d %d %d %s %v %s %d %d %q %d %q", c.lane, c.step, c.by, c.version, c.m.HashVersion, c.m.Shards,
		stamp(c.from), c.rules, stamp(c.evidence.Watermark), c.evidence.Remaining, c.evidence.Expected.Count, c.evidence.Expected.Digest,
		c.evidence.Actual.Count, c.evidence.Actual.Digest))
	return hex.EncodeToString(sum[:16])
}

// done says whether the command was carried out already.
func (v Versions) done(c command) bool {
	token := c.token()
	return slices.ContainsFunc(v.list, func(version Version) bool {
		if c.step == StepPropose && version.State == Withdrawn {
			return false // what was withdrawn may be proposed again
		}
		return slices.ContainsFunc(version.History, func(d Done) bool { return d.token == token })
	})
}

// next returns the map after a step, judged at a time after the map was read. The error is a *StepError.
func (v Versions) next(c command, now time.Time) (Versions, error) {
	number := c.version
	if c.step == StepPropose || c.step == StepCreate {
		number = len(v.list) + 1
	}
	var old Version
	exists := number >= 1 && number <= len(v.list)
	if exists {
		old = v.list[number-1]
	}
	refuse := func(reason string) (Versions, error) {
		return Versions{}, &StepError{Lane: v.Lane, Version: number, Step: c.step, State: old.State, Reason: reason}
	}
	state, ok := old.State.After(c.step)
	if !ok {
		return refuse("it is not in the state for it")
	}
	if reason := v.against(c, old, now); reason != "" {
		return refuse(reason)
	}
	if !exists {
		old = Version{Map: Map{Version: number, HashVersion: c.m.HashVersion, Shards: c.m.Shards}, From: c.from}
	}
	old.State = state
	old.History = append(slices.Clone(old.History), Done{Step: c.step, At: now.UTC(), By: c.by, Evidence: c.evidence, token: c.token()})
	after := v
	after.Revision++
	after.list = append(slices.Clone(v.list[:number-1]), old)
	if exists {
		after.list = append(after.list, v.list[number:]...)
	}
	return after, nil
}

// against returns what stands against a step that the state allows, "" if nothing does.
func (v Versions) against(c command, old Version, now time.Time) string {
	notice := v.Rules.Notice()
	switch c.step {
	case StepPropose:
		return v.againstProposal(c, now)
	case StepAdmit:
		// Whoever read the map before this version was stored did so before now. It may use that map for MaxAge more.
		if now.Add(notice).After(old.From) {
			return fmt.Sprintf("it was seen to be stored less than %v before its window begins; withdraw it", notice)
		}
	case StepDrain, StepRetire:
		end, ended := v.until(c.version - 1)
		if !ended {
			return "no later version is admitted"
		}
		if c.evidence.Watermark.Before(end) {
			return "the watermark is before the end of its window"
		}
		if now.Before(end.Add(v.Rules.MaxSkew)) {
			return "its window has not ended by every clock"
		}
		if c.step == StepRetire {
			return v.againstRetirement(c.evidence, end, now)
		}
	}
	return ""
}

func (v Versions) againstProposal(c command, now time.Time) string {
	switch last := v.list[len(v.list)-1]; {
	case last.State == Proposed:
		return fmt.Sprintf("version %d is proposed, and neither admitted nor withdrawn", last.Version)
	case len(v.list) == MaxVersions:
		return fmt.Sprintf("the lane has had %d versions", MaxVersions)
	}
	if notice := v.Rules.Notice(); now.Add(notice).After(c.from) {
		return fmt.Sprintf("its window begins in less than %v", notice)
	}
	for _, version := range v.list {
		if version.State != Withdrawn && !c.from.After(version.From) {
			return fmt.Sprintf("its window does not begin after that of version %d", version.Version)
		}
	}
	return ""
}

func (v Versions) againstRetirement(e Evidence, end, now time.Time) string {
	switch {
	case e.Remaining != 0:
		return fmt.Sprintf("%d records are not done", e.Remaining)
	case e.Expected != e.Actual:
		return fmt.Sprintf("the control totals differ: %d expected, %d found, or another digest", e.Expected.Count, e.Actual.Count)
	case now.Before(end.Add(v.Rules.Horizon + v.Rules.MaxSkew)):
		return fmt.Sprintf("the horizon of %v behind the end of its window has not passed", v.Rules.Horizon)
	}
	return ""
}

// check refuses a command that no state of the lane could carry out.
func (c command) check() error {
	bad := func(field, reason string) error { return &InvalidError{Lane: c.lane, Field: field, Reason: reason} }
	if reason := laneFlaw(c.lane); reason != "" {
		return bad("lane", reason)
	}
	if c.by == "" || len(c.by) > maxText || !utf8.ValidString(c.by) {
		return bad("by", fmt.Sprintf("is not 1 to %d bytes of UTF-8", maxText))
	}
	switch c.step {
	case StepCreate:
		if reason := c.rules.flaw(); reason != "" {
			return bad("Rules", reason)
		}
		return validate(c.m.HashVersion, c.m.Shards)
	case StepPropose:
		if year := c.from.UTC().Year(); c.from.IsZero() || year < 1 || year > 9999 {
			return bad("From", "is missing, or outside the years 1 to 9999")
		}
		return validate(c.m.HashVersion, c.m.Shards)
	case StepDrain, StepRetire:
		e := c.evidence
		if year := e.Watermark.UTC().Year(); e.Watermark.IsZero() || year < 1 || year > 9999 {
			return bad("Watermark", "is missing, or outside the years 1 to 9999")
		}
		if e.Remaining < 0 || e.Expected.Count < 0 || e.Actual.Count < 0 {
			return bad("Evidence", "has a negative count")
		}
		for _, digest := range []string{e.Expected.Digest, e.Actual.Digest} {
			if len(digest) > maxText || !utf8.ValidString(digest) {
				return bad("Evidence", fmt.Sprintf("has a digest that is not UTF-8 of at most %d bytes", maxText))
			}
		}
	}
	return nil
}

// Bounds of rules.
const (
	maxAge     = 24 * time.Hour
	maxSkew    = time.Hour
	maxHorizon = 10 * 366 * 24 * time.Hour
)

func (r Rules) withDefaults() Rules {
	return Rules{
		MaxAge:  cmp.Or(r.MaxAge, time.Minute),
		MaxSkew: cmp.Or(r.MaxSkew, 5*time.Second),
		Horizon: cmp.Or(r.Horizon, 7*24*time.Hour),
	}
}

func (r Rules) flaw() string {
	for _, d := range []struct {
		name       string
		value, max time.Duration
	}{{"MaxAge", r.MaxAge, maxAge}, {"MaxSkew", r.MaxSkew, maxSkew}, {"Horizon", r.Horizon, maxHorizon}} {
		if d.value <= 0 || d.value > d.max || d.value%time.Millisecond != 0 {
			return fmt.Sprintf("have a %s that is not whole milliseconds, above zero and at most %v", d.name, d.max)
		}
	}
	return ""
}

// maxLane bounds the name of a lane in bytes.
const maxLane = 200

// laneFlaw says what is wrong with the name of a lane. The characters need no escape in a key.
func laneFlaw(lane string) string {
	if lane == "" || len(lane) > maxLane {
		return fmt.Sprintf("is not 1 to %d characters long", maxLane)
	}
	for _, r := range lane {
		letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
		if !letter && r != '-' && r != '_' && r != '.' && r != '/' && r != ':' {
			return "has a character that is no letter, digit, or one of - _ . / :"
		}
	}
	return ""
}
