package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dynafin/dynafin/idempotency"
	"github.com/dynafin/dynafin/money"
)

// The limits of one order. Together they keep the order's item within two write units, so that the price of accepting
// an order is known before it is sent.
const (
	maxLine         = 8 << 10
	maxText         = 64
	maxInstructions = 640
)

// order is a line that passed every check that needs no database.
type order struct {
	Tenant, RequestKey, ClientOrderID, Account string
	Symbol, Side, Type, TimeInForce            string
	Quantity                                   money.Amount // units of the symbol
	LimitPrice                                 money.Amount // per unit; the zero Amount for a market order
	Currency                                   money.Currency
	At                                         time.Time // when the client placed it
	Trader, Instructions                       string
}

// parse reads one line. Its error lists everything that is wrong with the line, not only the first fault.
func (m market) parse(line []byte) (order, error) {
	if len(bytes.TrimSpace(line)) == 0 {
		return order{}, errors.New("empty line")
	}
	// encoding/json takes the last of two equal keys and replaces broken UTF-8; a line that can be read in two ways must
	// not become an order, so the strict reader goes first.
	if _, err := idempotency.CanonicalJSON(line); err != nil {
		return order{}, err
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(line, &raw); err != nil || raw == nil {
		return order{}, errors.New("not one JSON object")
	}
	f := fields{raw: raw}
	o := order{
		Tenant:        f.code("tenant"),
		RequestKey:    f.text("request_key", maxText),
		ClientOrderID: f.text("client_order_id", maxText),
		Account:       f.code("account"),
		Symbol:        f.code("symbol"),
		Side:          f.choice("side", "buy", "sell"),
		Type:          f.choice("type", "limit", "market"),
		At:            f.time("at"),
	}
	o.TimeInForce = "day"
	if f.has("time_in_force") {
		o.TimeInForce = f.choice("time_in_force", "day", "gtc", "ioc")
	}
	if f.has("trader") {
		o.Trader = f.text("trader", maxText)
	}
	if f.has("instructions") {
		o.Instructions = f.text("instructions", maxInstructions)
	}
	f.amounts(&o, m)
	f.unknown()
	return o, f.err()
}

// id names the order. It follows from the request alone, so every retry, by any process, means the same order.
func (o order) id() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d:%s%s", len(o.Tenant), o.Tenant, o.RequestKey))
	return "ord-" + hex.EncodeToString(sum[:16])
}

// eventID names the event of the order's acceptance, for the same reason.
func (o order) eventID() string { return fmt.Sprintf("%s-v%d", o.id(), firstVersion) }

// limitPrice is nil for a market order.
func (o order) limitPrice() *money.Amount {
	if o.Type != "limit" {
		return nil
	}
	return &o.LimitPrice
}

// command is what the request key stands for: all that the client asked for, nothing that a retry computes anew.
func (o order) command() *idempotency.Fields {
	c := idempotency.NewFields().
		String("client_order_id", o.ClientOrderID).
		String("account", o.Account).
		String("symbol", o.Symbol).
		String("side", o.Side).
		String("type", o.Type).
		String("time_in_force", o.TimeInForce).
		String("currency", o.Currency.Code()).
		Amount("quantity", o.Quantity.Text(), o.Symbol).
		Time("at", o.At).
		String("trader", o.Trader).
		String("instructions", o.Instructions)
	if price := o.limitPrice(); price != nil {
		c.Amount("limit_price", price.Text(), o.Currency.Code())
	}
	return c
}

// fields takes the members of a line one by one and remembers what is wrong with them.
type fields struct {
	raw    map[string]json.RawMessage
	faults []string
}

func (f *fields) fault(name, format string, args ...any) {
	f.faults = append(f.faults, name+": "+fmt.Sprintf(format, args...))
}

func (f *fields) err() error {
	if len(f.faults) == 0 {
		return nil
	}
	return errors.New(strings.Join(f.faults, "; "))
}

func (f *fields) has(name string) bool { return f.raw[name] != nil }

// take removes a member, so that what is left at the end is unknown.
func (f *fields) take(name string) (value json.RawMessage, ok bool) {
	value, ok = f.raw[name]
	delete(f.raw, name)
	if !ok {
		f.fault(name, "is missing")
	}
	return value, ok
}

func (f *fields) text(name string, limit int) string {
	value, ok := f.take(name)
	if !ok {
		return ""
	}
	var text string
	switch err := json.Unmarshal(value, &text); {
	case err != nil || value[0] != '"':
		f.fault(name, "is not a string")
	case text == "":
		f.fault(name, "is empty")
	case len(text) > limit:
		f.fault(name, "has %d bytes, at most %d are allowed", len(text), limit)
	case strings.ContainsFunc(text, unicode.IsControl):
		f.fault(name, "has control characters")
	}
	return text
}

// code reads an identifier of the broker's own master data. These make up the keys of the Orders table, and the
// letters that are allowed here keep one identifier from spelling two components of a key.
func (f *fields) code(name string) string {
	text := f.text(name, maxText/2)
	foreign := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
	}
	if strings.ContainsFunc(text, foreign) {
		f.fault(name, "%q has other characters than letters, digits, '-', '.' and '_'", text)
	}
	return text
}

func (f *fields) choice(name string, allowed ...string) string {
	text := f.text(name, maxText)
	if text != "" && !slices.Contains(allowed, text) {
		f.fault(name, "%q is not one of %s", text, strings.Join(allowed, ", "))
	}
	return text
}

func (f *fields) time(name string) time.Time {
	text := f.text(name, maxText)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	at = at.UTC()
	switch {
	case err != nil:
		f.fault(name, "%q is not a time with its zone, such as 2026-11-27T14:30:00Z", text)
	case at.Year() < 1970 || at.Year() > 9999:
		f.fault(name, "%q is not between the years 1970 and 9999", text)
	}
	return at
}

// number returns the text of a number, quoted or not, exactly as it was written: it never becomes a float.
func (f *fields) number(name string) string {
	value, ok := f.take(name)
	if !ok {
		return ""
	}
	text := string(value)
	if value[0] == '"' {
		if err := json.Unmarshal(value, &text); err != nil {
			f.fault(name, "is not a string")
		}
	}
	return text
}

func (f *fields) unknown() {
	for _, name := range slices.Sorted(maps.Keys(f.raw)) {
		f.fault(name, "unknown field")
	}
}
