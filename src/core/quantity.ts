/**
 * Kubernetes quantities: `0.5` and `500m`, `1024Mi` and `1Gi` are the same amount.
 *
 * The grammar, the rounding (away from zero, to a billionth) and the cap (2^63-1 for binary suffixes) are those of
 * `k8s.io/apimachinery/pkg/api/resource.Quantity`.
 */

const GRAMMAR = /^([+-]?)(\d{0,60})(?:\.(\d{0,60}))?(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]|[eE][+-]?\d{1,9})?$/
const BINARY = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
const DECIMAL: { readonly [suffix: string]: number } = {
  n: -9,
  u: -6,
  m: -3,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18
}
const BILLION = 10n ** 9n
const MILLION = 10n ** 6n
const CAP = 2n ** 63n - 1n

/** `digits * 2^binary * 10^decimal` in billionths, rounded up. */
const billionths = (digits: bigint, binary: number, decimal: number): bigint => {
  if (digits === 0n) return 0n
  if (decimal < -200) return 1n
  const whole = (digits << BigInt(binary)) * BILLION
  if (decimal >= 0) return whole * 10n ** BigInt(decimal)
  const divisor = 10n ** BigInt(-decimal)
  return (whole + divisor - 1n) / divisor
}

const parse = (text: string): bigint | undefined => {
  const match = GRAMMAR.exec(text)
  if (match === null) return undefined
  const [, sign, whole = "", fraction = "", suffix = ""] = match
  const exponent = /^[eE][+-]?\d/.test(suffix) ? Number(suffix.slice(1)) : (DECIMAL[suffix] ?? 0)
  if ((whole === "" && fraction === "") || exponent > 60) return undefined
  const binary = (BINARY.indexOf(suffix) + 1) * 10
  const amount = billionths(BigInt(whole + fraction), binary, exponent - fraction.length)
  const capped = binary > 0 && amount > CAP * BILLION ? CAP * BILLION : amount
  return sign === "-" ? -capped : capped
}

const scaled = (amount: bigint): string => {
  for (const [size, suffix] of STEPS) if (amount % size === 0n) return `${amount / size}${suffix}`
  return `${amount}n`
}

/** The units an amount is written in: the largest of which it is a whole number. */
const STEPS: readonly (readonly [bigint, string])[] = [
  ...BINARY.map((suffix, i) => [BILLION << BigInt(10 * (i + 1)), suffix] as const).reverse(),
  [BILLION, ""],
  [MILLION, "m"],
  [1000n, "u"]
]

const roundedUp = (amount: bigint): bigint => {
  const size = amount < 0n ? -amount : amount
  const steps = (size + MILLION - 1n) / MILLION
  return amount < 0n ? -steps * MILLION : steps * MILLION
}

/**
 * The one spelling of an amount, the same for every spelling of it; `undefined` for what is no quantity. Zero is "0". What is
 * above 10^60 has no spelling here.
 *
 * @param value a string or a number, as in JSON
 * @param milli rounded up to thousandths, as the API server does in `limits`, `requests` and `overhead`
 */
export const quantity = (value: unknown, milli: boolean): string | undefined => {
  if (typeof value !== "string" && typeof value !== "number") return undefined
  const exact = parse(String(value).trim())
  if (exact === undefined) return undefined
  if (exact === 0n) return "0"
  return scaled(milli ? roundedUp(exact) : exact)
}
