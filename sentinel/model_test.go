package sentinel_test

import (
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/dynafin/dynafin/internal/chance"
	"github.com/dynafin/dynafin/txn"
)

// After any sequence of create, move, release and failure, live names and live owners are a bijection (U1). A Commit that
// succeeds has changed something and one that is refused has not, whatever was lost on the way (E1), without any help
// of request tokens (E2). A late copy of an applied request changes nothing (E3).
func TestNamesAndOwnersStayOneToOne(t *testing.T) {
	t.Parallel()
	chance.Check(t, func(rt *rapid.T, seen chance.Seen) {
		w := newWorld(t, rt)
		rt.Repeat(map[string]func(*rapid.T){
			"look":      w.look,
			"create":    w.create,
			"adopt":     w.adopt,
			"move":      w.move,
			"release":   w.release,
			"late copy": w.lateCopy,
			"":          w.oneToOne,
		})
		for what, n := range w.seen {
			seen[what] += n
		}
	},
		"create applied", "create refused", "adopt applied", "move applied", "move refused", "release applied", "release refused",
		"lost answer", "lost request", "late copy without effect", "recovered")
}

// look refreshes what a worker knows of an owner. The other actions go by what was read then, however old it is.
func (w *world) look(rt *rapid.T) {
	id := drawOwner(rt)
	w.known[id] = w.owner(id)
}

func (w *world) create(rt *rapid.T) {
	id, name := drawOwner(rt), drawName(rt)
	w.commit(rt, "create", w.names.Reserve(claim(name, id)), w.newOwner(id, name))
}

func (w *world) adopt(rt *rapid.T) {
	id, known := w.drawKnown(rt)
	if known.Name != "" {
		rt.Skip("the owner has a name")
	}
	name := drawName(rt)
	w.commit(rt, "adopt", w.names.Reserve(claim(name, id)), w.rename(known, name))
}

func (w *world) move(rt *rapid.T) {
	id, known := w.drawKnown(rt)
	if known.Name == "" {
		rt.Skip("the owner has no name")
	}
	name := drawName(rt)
	w.commit(rt, "move", w.names.Move(known.held, claim(name, id)), w.rename(known, name))
}

func (w *world) release(rt *rapid.T) {
	_, known := w.drawKnown(rt)
	if known.Name == "" {
		rt.Skip("the owner has no name")
	}
	w.commit(rt, "release", w.names.Release(known.held), w.rename(known, ""))
}

// lateCopy delivers an earlier request again, as a network may that held it back. If its Commit succeeded, it must
// change nothing. If nobody knows how its Commit ended, it may, but whole.
func (w *world) lateCopy(rt *rapid.T) {
	if len(w.wire.sent) == 0 {
		rt.Skip("nothing was sent")
	}
	copied := rapid.SampledFrom(w.wire.sent).Draw(rt, "request")
	before := w.read()
	w.wire.again(rt, copied)
	if !copied.applied {
		return
	}
	if now := w.read(); now.text != before.text {
		rt.Fatalf("a late copy of an applied request changed the tables from\n%s\nto\n%s", before.text, now.text)
	}
	w.seen["late copy without effect"]++
}

func (w *world) oneToOne(rt *rapid.T) {
	now := w.read()
	names := 0
	for _, id := range allOwners {
		name := now.nameOf[id]
		if name == "" {
			continue
		}
		names++
		if now.ownerOf[name] != id {
			rt.Fatalf("%s has the name %s, which belongs to %q", id, name, now.ownerOf[name])
		}
	}
	if names != len(now.ownerOf) {
		rt.Fatalf("%d owners have a name, but these names are held: %v", names, now.ownerOf)
	}
}

// commit commits and holds the answer against what happened to the tables.
func (w *world) commit(rt *rapid.T, what string, parts ...txn.Part) {
	before, first := w.read(), len(w.wire.sent)
	w.wire.trouble(rt)
	receipt, err := impatient(w.faulty).Commit(w.ctx, parts...)
	changed := w.read().text != before.text
	switch {
	case err == nil && changed:
		w.seen[what+" applied"]++
	case errors.Is(err, txn.ErrCanceled) && !changed:
		w.seen[what+" refused"]++
	case errors.Is(err, txn.ErrAmbiguous) && what == "adopt":
		w.seen[what+" unknown"]++ // nothing in it makes a second try safe
	case errors.Is(err, txn.ErrAmbiguous) && what != "create" && !changed:
		w.seen[what+" unknown"]++ // an attempt got no answer, and the record has changed since it was read
	default:
		rt.Fatalf("%s: tables changed: %v, but the answer is %v", what, changed, err)
	}
	if receipt.Recovered {
		w.seen["recovered"]++
	}
	for _, sent := range w.wire.sent[first:] {
		sent.applied = err == nil
	}
}

func drawOwner(rt *rapid.T) string { return rapid.SampledFrom(allOwners).Draw(rt, "owner") }
func drawName(rt *rapid.T) string  { return rapid.SampledFrom(allNames).Draw(rt, "name") }

func (w *world) drawKnown(rt *rapid.T) (string, known) {
	id := drawOwner(rt)
	k, ok := w.known[id]
	if !ok || k.Version == 0 {
		rt.Skip(fmt.Sprintf("%s is not known", id))
	}
	return id, k
}
