package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dynafin/dynafin/ledger"
	"github.com/dynafin/dynafin/money"
)

// currencyOf chooses the money of a commodity that the ledger does not know yet: the currency of ISO 4217 whose code it
// is, if its decimal places are enough, and else a security of its own with exactly those places.
func currencyOf(symbol string, places int) (money.Currency, error) {
	if c, err := money.ISO(symbol); err == nil && places <= c.Scale() {
		return c, nil
	}
	return money.Define(codeOf(symbol), places, money.KindSecurity)
}

// codePrefix keeps commodities apart from the codes of ISO 4217, which are nobody else's.
const codePrefix = "hl:"

// codeOf makes the code of a security from a commodity, which may be any text: other bytes than letters, digits, point
// and minus become _ and two hexadecimal digits, and a code that would be too long is a digest.
func codeOf(symbol string) string {
	code := []byte(codePrefix)
	for i := range len(symbol) {
		switch c := symbol[i]; {
		case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-':
			code = append(code, c)
		default:
			code = fmt.Appendf(code, "_%02X", c)
		}
	}
	if len(code) > money.MaxCodeBytes {
		digest := sha256.Sum256([]byte(symbol))
		return fmt.Sprintf("%s:%x", codePrefix, digest[:(money.MaxCodeBytes-len(codePrefix)-1)/2])
	}
	return string(code)
}

// symbolOf is the commodity of a code: of one that this import did not meet, as far as the code tells.
func (b *books) symbolOf(code string) string {
	if symbol, known := b.symbols[code]; known {
		return symbol
	}
	coded, ours := strings.CutPrefix(code, codePrefix)
	if !ours || strings.HasPrefix(coded, ":") {
		return code
	}
	var symbol []byte
	for i := 0; i < len(coded); i++ {
		if coded[i] == '_' && i+2 < len(coded) {
			if c, err := strconv.ParseUint(coded[i+1:i+3], 16, 8); err == nil {
				symbol = append(symbol, byte(c))
				i += 2
				continue
			}
		}
		symbol = append(symbol, coded[i])
	}
	return string(symbol)
}

// What the metadata of a commodity's own account says.
const (
	metaCommodity = "commodity"
	metaCode      = "code"
)

// commodity returns the money of a commodity. The first import decides about it and records it in an account of its own,
// so that a later file, with other amounts, means the same money.
func (b *books) commodity(ctx context.Context, symbol string, places int) (money.Currency, error) {
	id := internal("commodity", symbol)
	for {
		stored, err := b.book.Account(ctx, b.client, b.tenant, id)
		switch {
		case err == nil:
			return b.storedCommodity(ctx, stored)
		case !errors.Is(err, ledger.ErrNotFound):
			return money.Currency{}, err
		}
		c, err := currencyOf(symbol, places)
		if err != nil {
			return money.Currency{}, err
		}
		account := ledger.Account{Tenant: b.tenant, ID: id, Side: ledger.DebitSide, Metadata: map[string]string{metaCommodity: symbol, metaCode: c.Code()}}
		err = b.commit(ctx, b.book.OpenAccount(account, ledger.Asset{Currency: c, NoMinimum: true}))
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, ledger.ErrDuplicate) {
			return money.Currency{}, err
		}
	}
}

// storedCommodity returns the money that an earlier import decided on, with the scale that the ledger keeps.
func (b *books) storedCommodity(ctx context.Context, a ledger.Account) (money.Currency, error) {
	c, err := money.ISO(a.Metadata[metaCode])
	if err != nil {
		if c, err = money.Define(a.Metadata[metaCode], 0, money.KindSecurity); err != nil {
			return money.Currency{}, fmt.Errorf("account %q is not this program's: %w", a.ID, err)
		}
	}
	balance, err := b.book.Balance(ctx, b.client, b.tenant, a.ID, c)
	return balance.Currency, err
}
