package expr

// tokenKind is the kind of a token. Punctuation is its own kind: '(' or '='.
type tokenKind uint8

const (
	tokenEnd tokenKind = iota + 128
	tokenBad
	tokenName     // name
	tokenNameRef  // #name
	tokenValueRef // :value
	tokenNumber
	tokenNotEqual
	tokenLessOrEqual
	tokenGreaterOrEqual
	tokenAnd
	tokenOr
	tokenNot
	tokenBetween
	tokenIn
	tokenSet
	tokenRemove
	tokenAdd
	tokenDelete
)

type token struct {
	kind       tokenKind
	start, end int
}

// lexer cuts an expression into tokens. It never fails: what belongs to no token is a tokenBad of one byte, or of one
// character beyond ASCII.
type lexer struct {
	src  string
	pos  int
	kind Kind
}

func (l *lexer) next() token {
	for l.pos < len(l.src) && isBlank(l.src[l.pos]) {
		l.pos++
	}
	start := l.pos
	if start == len(l.src) {
		return token{tokenEnd, start, start}
	}
	kind := l.scan(l.src[start])
	return token{kind, start, l.pos}
}

// scan reads one token that begins with c and leaves pos behind it.
func (l *lexer) scan(c byte) tokenKind {
	l.pos++
	switch {
	case c == '#' || c == ':':
		word := l.word()
		switch {
		case word == "":
			return tokenBad
		case c == '#':
			return tokenNameRef
		default:
			return tokenValueRef
		}
	case isLetter(c) || c == '_' && l.kind.startsUnderscore():
		l.pos--
		return l.keyword(l.word())
	case isDigit(c):
		for l.pos < len(l.src) && isDigit(l.src[l.pos]) {
			l.pos++
		}
		return tokenNumber
	}
	switch c {
	case '<':
		if l.follows('>') {
			return tokenNotEqual
		}
		if l.follows('=') {
			return tokenLessOrEqual
		}
		return '<'
	case '>':
		if l.follows('=') {
			return tokenGreaterOrEqual
		}
		return '>'
	case '=', '+', '-', '(', ')', '[', ']', '.', ',':
		return tokenKind(c)
	}
	for l.pos < len(l.src) && l.src[l.pos]&0xC0 == 0x80 { // the rest of a character
		l.pos++
	}
	return tokenBad
}

func (l *lexer) follows(c byte) bool {
	if l.pos < len(l.src) && l.src[l.pos] == c {
		l.pos++
		return true
	}
	return false
}

func (l *lexer) word() string {
	start := l.pos
	for l.pos < len(l.src) && (isLetter(l.src[l.pos]) || isDigit(l.src[l.pos]) || l.src[l.pos] == '_') {
		l.pos++
	}
	return l.src[start:l.pos]
}

// keyword finds the keywords of this kind of expression, in any case; the other kind's are plain names.
func (l *lexer) keyword(word string) tokenKind {
	if len(word) > len("BETWEEN") {
		return tokenName
	}
	switch l.kind {
	case ConditionExpression, FilterExpression, KeyConditionExpression:
		switch {
		case isWord(word, "AND"):
			return tokenAnd
		case isWord(word, "OR"):
			return tokenOr
		case isWord(word, "NOT"):
			return tokenNot
		case isWord(word, "IN"):
			return tokenIn
		case isWord(word, "BETWEEN"):
			return tokenBetween
		}
	case UpdateExpression:
		switch {
		case isWord(word, "SET"):
			return tokenSet
		case isWord(word, "REMOVE"):
			return tokenRemove
		case isWord(word, "ADD"):
			return tokenAdd
		case isWord(word, "DELETE"):
			return tokenDelete
		}
	}
	return tokenName
}

func isWord(word, upper string) bool {
	if len(word) != len(upper) {
		return false
	}
	for i := range len(word) {
		if word[i]&^0x20 != upper[i] {
			return false
		}
	}
	return true
}

func isBlank(c byte) bool  { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
