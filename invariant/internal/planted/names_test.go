package planted

import (
	"context"
	"fmt"
	"time"

	"github.com/dynafin/dynafin/invariant"
)

func names() []bug {
	return []bug{
		{name: "release of another's name", label: "E4, U1", within: 800,
			lesson: "the release is repeated after somebody else took the name", story: name(mistakesWithNames{anyRelease: true}, true)},
		{name: "name deleted instead of kept", label: "U1, E3", within: 300,
			lesson: "a late copy of the reservation finds the name free again", story: name(mistakesWithNames{deletes: true}, false)},
		{name: "key without escapes", label: "E6", within: 20,
			lesson: "tenant a#b with name c and tenant a with name b#c share a record", story: sharedKey},
	}
}

type mistakesWithNames struct{ anyRelease, deletes bool }

// name is a story of one name. Ann takes it and gives it up; bob, if he is there, takes it when it is free, and keeps it.
func name(m mistakesWithNames, bob bool) func(w *invariant.World, broken bool) {
	return func(w *invariant.World, broken bool) {
		m := m
		if !broken {
			m = mistakesWithNames{}
		}
		w.Worker("ann", func(ctx context.Context, p *invariant.Process) error {
			version, err := m.reserve(ctx, of(p), "ann")
			if err != nil || version == 0 {
				return err
			}
			for {
				if err := m.release(ctx, of(p), "ann", version); err == nil {
					return nil
				}
				if err := p.Sleep(ctx, time.Second); err != nil {
					return err
				}
			}
		})
		if bob {
			w.Worker("bob", bobKeeps(m))
		}
		w.Run()
		w.Settle()
		stored, err := behind(w).get(w.Context(), "NAME")
		w.Check("read", err)
		told, err := behind(w).get(w.Context(), "BOB HAS IT")
		w.Check("read", err)
		want := ""
		if told != nil {
			want = "bob"
		}
		if stored["holder"] != want {
			w.Check("who was told that he has the name has it", fmt.Errorf("%q holds it, and should be %q", stored["holder"], want))
		}
	}
}

// bobKeeps looks for the name a few times and notes that he has it.
func bobKeeps(m mistakesWithNames) func(ctx context.Context, p *invariant.Process) error {
	return func(ctx context.Context, p *invariant.Process) error {
		for range 4 {
			version, err := m.reserve(ctx, of(p), "bob")
			if err != nil {
				return err
			}
			if version > 0 {
				return of(p).do(ctx, put("BOB HAS IT", nil))
			}
			if err := p.Sleep(ctx, time.Second/4); err != nil {
				return err
			}
		}
		return nil
	}
}

// reserve takes the name if it is free, and returns the version of the record; 0 if somebody else has it.
func (m mistakesWithNames) reserve(ctx context.Context, s store, who string) (version int, err error) {
	stored, err := s.get(ctx, "NAME")
	if err != nil {
		return 0, err
	}
	version = number(stored["ver"])
	switch {
	case stored["holder"] == who:
		return version, nil // an earlier attempt of ours
	case stored["holder"] != "":
		return 0, nil
	case who == "ann" && version > 0 && !m.deletes:
		return 0, nil // ann had her turn
	}
	take := create("NAME", values{"holder": who, "ver": 1})
	if stored != nil {
		take = update("NAME", "SET holder = :me, ver = ver + :one", values{"me": who, "one": 1}).
			If("ver = :seen AND attribute_not_exists(holder)", values{"seen": version})
	}
	if err := s.do(ctx, take); err != nil {
		return 0, err // also a failed condition: look again
	}
	return version + 1, nil
}

func (m mistakesWithNames) release(ctx context.Context, s store, who string, version int) error {
	leave := update("NAME", "SET ver = ver + :one REMOVE holder", values{"one": 1})
	switch {
	case m.deletes:
		leave = remove("NAME").If("holder = :me AND ver = :seen", values{"me": who, "seen": version})
	case !m.anyRelease:
		leave = leave.If("holder = :me AND ver = :seen", values{"me": who, "seen": version})
	}
	err := s.do(ctx, leave)
	if _, ok := refused(err); ok {
		return nil // an earlier attempt of ours
	}
	return err
}

func sharedKey(w *invariant.World, broken bool) {
	for _, pair := range [][2]string{{"a", "b#c"}, {"a#b", "c"}} {
		w.Command(pair[0]+" "+pair[1], func(ctx context.Context, p *invariant.Process) ([]byte, error) {
			pk := fmt.Sprintf("TEN#%q#NAME#%q", pair[0], pair[1])
			if broken {
				pk = "TEN#" + pair[0] + "#" + pair[1]
			}
			err := of(p).do(ctx, create(pk, values{"tenant": pair[0]}))
			if old, ok := refused(err); ok && old["tenant"] != pair[0] {
				return []byte("taken"), nil
			} else if ok {
				return []byte("yours"), nil
			}
			return []byte("yours"), err
		})
	}
	w.Run()
	w.Settle()
	for _, answer := range w.Answers() {
		if string(answer.Body) == "taken" {
			w.Check("tenants do not meet", fmt.Errorf("%s is told that its name is taken", answer.Command))
		}
	}
}
