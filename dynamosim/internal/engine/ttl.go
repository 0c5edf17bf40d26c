package engine

import (
	"time"

	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// Limits of the time to live.
const (
	// ttlInterval is how long a table's setting stays before it may be changed again.
	ttlInterval = time.Hour
	// ttlYears is how long an item may have expired and still be deleted: one that did long ago is more likely a mistake.
	ttlYears = 5
)

// timeToLive is a table's setting. An item expires when the second that its attribute names is over.
type timeToLive struct {
	attribute string
	enabled   bool
	// changed is zero if the setting never was.
	changed time.Time
	// schedule is when expired items will be deleted without being asked for; see Config.SweepWithin.
	schedule schedule
}

// status is what a description says. A change takes a step.
func (l *timeToLive) status(now time.Time, step time.Duration) string {
	changing := !l.changed.IsZero() && now.Before(l.changed.Add(step))
	switch {
	case l.enabled && changing:
		return "ENABLING"
	case l.enabled:
		return "ENABLED"
	case changing:
		return "DISABLING"
	}
	return "DISABLED"
}

// ttlSpecification is the setting as it goes over the wire.
type ttlSpecification struct {
	Enabled       *bool
	AttributeName *string
}

func (e *Engine) updateTimeToLive(now time.Time, body []byte) (*writer, *failure) {
	var in struct {
		TableName               *string
		TimeToLiveSpecification *ttlSpecification
	}
	if f := decode(body, &in); f != nil {
		return nil, f
	}
	var c checks
	c.name("tableName", in.TableName)
	c.required("timeToLiveSpecification", in.TimeToLiveSpecification != nil)
	spec := in.TimeToLiveSpecification
	if spec != nil {
		const path = "timeToLiveSpecification."
		c.required(path+"enabled", spec.Enabled != nil)
		c.required(path+"attributeName", spec.AttributeName != nil)
		if name := spec.AttributeName; name != nil {
			c.minLength(path+"attributeName", *name, len(*name), 1)
			c.maxLength(path+"attributeName", *name, len(*name), keyNameMax)
		}
	}
	if f := c.failure(); f != nil {
		return nil, f
	}
	t, ok := e.tables.Get(*in.TableName)
	if !ok {
		return nil, &failure{exception: resourceNotFound, message: msgTableNotFound(*in.TableName)}
	}
	if f := t.ttl.check(now, *spec); f != nil {
		return nil, f
	}
	t.ttl = timeToLive{attribute: *spec.AttributeName, enabled: *spec.Enabled, changed: now}
	e.scheduleAll(t)
	w := newWriter()
	w.open()
	w.key("TimeToLiveSpecification")
	w.open()
	w.boolean("Enabled", *spec.Enabled)
	w.text("AttributeName", *spec.AttributeName)
	w.close()
	w.close()
	return w, nil
}

// check refuses a change that is none, or that comes too soon after the last. To change the attribute takes two.
func (l *timeToLive) check(now time.Time, spec ttlSpecification) *failure {
	switch {
	case l.enabled && *spec.AttributeName != l.attribute:
		return invalid(msgTTLOtherAttribute(l.attribute))
	case l.enabled && *spec.Enabled:
		return invalid(msgTTLEnabled)
	case !l.enabled && !*spec.Enabled:
		return invalid(msgTTLDisabled)
	case !l.changed.IsZero() && now.Before(l.changed.Add(ttlInterval)):
		return invalid(msgTTLTooSoon)
	}
	return nil
}

func (e *Engine) describeTimeToLive(now time.Time, body []byte) (*writer, *failure) {
	t, f := e.namedTable(body)
	if f != nil {
		return nil, f
	}
	status := t.ttl.status(now, e.config.UpdateStep)
	w := newWriter()
	w.open()
	w.key("TimeToLiveDescription")
	w.open()
	w.text("TimeToLiveStatus", status)
	if status != "DISABLED" {
		w.text("AttributeName", t.ttl.attribute)
	}
	w.close()
	w.close()
	return w, nil
}

// window is the range of attribute values that mean expired at one moment: from first up to but not including end.
type window struct {
	attribute  string
	first, end value.Value
}

// window is nil while nothing of the table expires.
func (e *Engine) window(t *table, now time.Time) *window {
	if t.ttl.status(now, e.config.UpdateStep) != "ENABLED" {
		return nil
	}
	return &window{t.ttl.attribute, value.Int(now.AddDate(-ttlYears, 0, 0).Unix()), value.Int(now.Unix())}
}

// holds reports whether an item has expired. What is not a number does not expire.
func (w *window) holds(item value.Item) bool {
	v, ok := item.Get(w.attribute)
	if !ok || v.Kind() != value.N {
		return false
	}
	toFirst, _ := value.Compare(v, w.first)
	toEnd, _ := value.Compare(v, w.end)
	return toFirst >= 0 && toEnd < 0
}

// Expired is an item that has expired and is still stored.
type Expired struct {
	Table string
	Item  value.Item
	key   string
}

// Expired returns all of them, by table and in the table's order.
func (e *Engine) Expired(now time.Time) []Expired {
	e.arrive(now)
	var found []Expired
	e.tables.Scan(func(name string, t *table) bool {
		if w := e.window(t, now); w != nil {
			t.rows.Scan(func(key string, r row) bool {
				if w.holds(r.item) {
					found = append(found, Expired{Table: name, Item: r.item, key: key})
				}
				return true
			})
		}
		return true
	})
	return found
}

// Sweep deletes items that had expired and still have, and returns how many. It costs nobody units.
func (e *Engine) Sweep(now time.Time, items []Expired) int {
	e.arrive(now)
	swept := 0
	for _, item := range items {
		if t, ok := e.tables.Get(item.Table); ok && e.expire(now, t, item.key) {
			swept++
		}
	}
	return swept
}

// expire deletes an item if it has expired.
func (e *Engine) expire(now time.Time, t *table, key string) bool {
	w, stored := e.window(t, now), t.item(key)
	if w == nil || !stored.exists() || !w.holds(stored.item) {
		return false
	}
	c := e.newChange(t, key, stored, value.Item{})
	c.origin = originExpiry
	e.commit(now, c)
	return true
}
