package batching

import (
	"errors"
	"net/http"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// explain returns the code of a call's error, if there is one, and a reason that repeats nothing of the answer but the
// code: a broker's sentences may quote the request.
func explain(err error) (code, reason string) {
	var coded smithy.APIError
	var answer *smithyhttp.ResponseError
	var unreadable *smithy.DeserializationError
	switch {
	case errors.As(err, &coded):
		code = tidy(coded.ErrorCode())
		return code, "the call is answered with " + code
	case errors.As(err, &answer), errors.As(err, &unreadable):
		return "", "the answer cannot be read" // why not may be said in its own words
	default:
		return "", err.Error()
	}
}

// tooLarge says whether the broker did not even read a call because of its size.
func tooLarge(err error) bool {
	var answer *smithyhttp.ResponseError
	return errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusRequestEntityTooLarge
}

const maxCodeBytes = 100

// tidy returns a code if it looks like one.
func tidy(code string) string {
	for _, r := range code {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._:-", r)) {
			code = ""
		}
	}
	if code == "" || len(code) > maxCodeBytes {
		return "UnknownError"
	}
	return code
}

// mendable are the parts of codes that are about rights, keys, limits or the broker itself. The event is fine: somebody
// mends the cause, or it goes away.
var mendable = []string{
	"accessdenied", "authoriz", "authentic", "token", "signature", "unrecognizedclient", "optin", "kms", "security",
	"throttl", "overlimit", "limitexceeded", "notfound", "doesnotexist", "nonexistent", "disabled", "deleted",
	"internal", "unavailable", "timeout",
}

// Mendable says of a code that waiting may help, whoever is said to be at fault.
func Mendable(code string) bool {
	code = strings.ToLower(code)
	for _, part := range mendable {
		if strings.Contains(code, part) {
			return true
		}
	}
	return false
}
