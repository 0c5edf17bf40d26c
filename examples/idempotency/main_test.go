package main

import (
	"testing"

	"github.com/dynafin/dynafin/examples/internal/readme"
)

func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) { readme.Shows(t, run) }
