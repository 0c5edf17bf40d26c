package engine

import (
	"time"

	"github.com/dynafin/dynafin/capacity"
	"github.com/dynafin/dynafin/dynamosim/internal/value"
)

// SavedVersion is the version of the form of Saved. Another form gets another number.
const SavedVersion = 1

// Saved is the state of an engine as a document. It holds what follows from nothing else: ordering keys, sizes and the entries
// of indexes that are up to date are worked out anew.
//
// Left out is what is over within moments: heat, busy items, the past that stale reads see; and the counters of Stats.
type Saved struct {
	Version int
	At      time.Time
	Region  string
	Account string
	Seed    uint64
	// Created counts the tables ever created, StepsMade the steps of indexes, and the others numbers drawn.
	Created, StepsMade, LagDrawn, PastDrawn uint64 `json:",omitempty"`

	Tables  []savedTable
	Steps   []savedStep   `json:",omitempty"`
	Streams []savedStream `json:",omitempty"`
	Tokens  []savedToken  `json:",omitempty"`
}

type savedTable struct {
	Definition         definition
	ID                 string
	Created            time.Time
	Updating           time.Time    `json:",omitzero"`
	ThroughputUpdating bool         `json:",omitempty"`
	BillingChanged     bool         `json:",omitempty"`
	Stream             string       `json:",omitempty"` // the label of the latest
	TTL                *savedTTL    `json:",omitempty"`
	Work               *savedWork   `json:",omitempty"`
	Indexes            []savedIndex `json:",omitempty"`
	Items              []value.Item
}

type savedTTL struct {
	Attribute string
	Enabled   bool
	Changed   time.Time
}

type savedWork struct {
	Index string
	Phase workPhase
	Until time.Time
}

// savedIndex is an index that is in service.
type savedIndex struct {
	Name     string
	Updating time.Time `json:",omitzero"`
	// Behind says that Entries are what the index shows; else it shows what follows from the items.
	Behind  bool         `json:",omitempty"`
	Entries []value.Item `json:",omitempty"`
}

// savedStep puts an entry into an index, or takes it out.
type savedStep struct {
	Table, Index string
	Entry        value.Item
	Remove       bool `json:",omitempty"`
	Made         time.Time
	Due          time.Time `json:",omitzero"`
	Rank         uint64    `json:",omitempty"`
	Number       uint64
}

type savedStream struct {
	Table, Label, View string
	Keys               []keyElement
	Kinds              []string
	Created            time.Time
	Disabled           time.Time `json:",omitzero"`
	// Forgotten: only its table still knows it.
	Forgotten      bool `json:",omitempty"`
	Given, Counted uint64
	Stamp          int64
	Full           int            `json:",omitempty"`
	Waiting        []savedWaiting `json:",omitempty"`
	Shards         []savedShard   `json:",omitempty"`
}

type savedWaiting struct {
	Record  savedRecord
	Due     time.Time
	Slot    uint64 `json:",omitempty"`
	Chained bool   `json:",omitempty"`
}

type savedShard struct {
	ID, Parent   string
	Low, High    uint64
	Opened       time.Time
	Closed       time.Time `json:",omitzero"`
	Start        uint64
	End, Trimmed uint64 `json:",omitempty"`
	Taken        int
	Records      []savedRecord `json:",omitempty"`
}

type savedRecord struct {
	Number, ID uint64
	Created    int64
	Event      string
	Origin     origin `json:",omitempty"`
	Keys       value.Item
	Before     value.Item `json:",omitzero"`
	After      value.Item `json:",omitzero"`
}

// savedToken is how the first request with a token ended.
type savedToken struct {
	Name      string
	Digest    []byte
	Completes time.Time
	Expires   time.Time
	Bills     []savedBill   `json:",omitempty"`
	Canceled  []savedReason `json:",omitempty"`
}

type savedBill struct {
	Table string
	Base  capacity.Units
	Arms  []savedArm `json:",omitempty"`
}

type savedArm struct {
	Index string
	Local bool `json:",omitempty"`
	Units capacity.Units
}

type savedReason struct {
	Code, Message string     `json:",omitempty"`
	Item          value.Item `json:",omitzero"`
}
