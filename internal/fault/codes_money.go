package fault

// Codes of package money.
var (
	MoneySyntax = Code{"DFN-1101", "money.ErrSyntax",
		"The text is not a plain decimal: an optional minus sign, digits, and at most one point between digits.",
		"Send digits such as 1234.50, without exponent, plus sign, space or separator.", RetryNever}
	MoneyInexact = Code{"DFN-1102", "money.ErrInexact",
		"The value has a fraction finer than the currency's scale, and money is never rounded silently.",
		"Declare a rounding (money.HalfEven and others) where the business rounds.", RetryNever}
	MoneyRange = Code{"DFN-1103", "money.ErrRange",
		"The amount has more digits than DynamoDB's Number keeps exactly (38 at the currency's scale), or than the integer type asked for holds; or a rational has more than 1024 bits.",
		"Check the input; a real amount of this size needs a currency with a smaller scale.", RetryNever}
	MoneyMismatch = Code{"DFN-1104", "money.ErrMismatch",
		"The two amounts differ in currency code, scale or kind.",
		"Convert one amount first; for one code with two scales use Rescale.", RetryNever}
	MoneyUnknownCurrency = Code{"DFN-1105", "money.ErrUnknownCurrency",
		"The currency code is neither in the ISO 4217 table nor registered, or it is withdrawn and not open for new amounts, or the amount has no currency.",
		"Correct the code, or define and register the currency.", RetryNever}
	MoneyDefinition = Code{"DFN-1106", "money.ErrDefinition",
		"A currency cannot be defined or registered like this: bad code, scale or kind, a code that ISO 4217 uses, or one registered twice.",
		"Choose another code, for instance one qualified by its venue.", RetryNever}
	MoneyEncoding = Code{"DFN-1107", "money.ErrEncoding",
		"The stored or transmitted value does not have the shape of an amount.",
		"Use the JSON string \"19.99 USD\" or the DynamoDB map of a, c and s.", RetryNever}
	MoneyAllocation = Code{"DFN-1108", "money.ErrAllocation",
		"An amount cannot be divided like this: no weights, a negative one, none above zero, a residual that nobody may take, or a bad number of parts.",
		"Correct the weights, and name who takes the residual.", RetryNever}
	MoneyRounding = Code{"DFN-1109", "money.ErrRounding",
		"A rounding is none of the declared ones, or its places, its step or its account make no sense.",
		"Use one of the constants of money.Rounding, places or a step that amounts can reach, and a named account.", RetryNever}
	MoneyRate = Code{"DFN-1110", "money.ErrRate",
		"An exchange rate lacks its source, identity, time or currencies, or its value is not positive.",
		"Complete the rate; a conversion without the identity of its rate cannot be proved later.", RetryNever}
	MoneyDivision = Code{"DFN-1111", "money.ErrDivision",
		"A calculation would divide by zero.",
		"Check the divisor first.", RetryNever}
)

// Money lists the codes of package money.
var Money = []Code{MoneySyntax, MoneyInexact, MoneyRange, MoneyMismatch, MoneyUnknownCurrency, MoneyDefinition, MoneyEncoding,
	MoneyAllocation, MoneyRounding, MoneyRate, MoneyDivision}
