/**
 * Resource quantities as Kubernetes writes them: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`.
 *
 * The suffix's family is kept (binary, decimal, exponent) and the largest one without a fraction is chosen; below
 * a thousandth the amount is rounded up (apimachinery `resource.Quantity`).
 */
const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]
const DECIMAL = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"]
const NANO = 1_000_000_000n

/** Amounts that are canonical at first sight. */
const COMMON = /^[1-9]\d?(m|M|G|Mi|Gi)?$/

/** The canonical text of a quantity; undefined where it is none. */
export const quantity = (given: unknown): string | undefined => {
  if (typeof given === "string" && COMMON.test(given)) return given
  const parsed = amount(typeof given === "number" ? String(given) : given)
  if (!parsed) return undefined
  const { nano, family } = parsed
  if (nano === 0n) return "0"
  const [sign, size] = nano < 0n ? ["-", -nano] : ["", nano]
  if (family === "binary" && size % NANO === 0n && size >= 1024n * NANO) return sign + binary(size / NANO)
  return sign + decimal(size, family === "exponent")
}

/** The amount in billionths; undefined where the text is no quantity. */
export const nanos = (given: unknown): bigint | undefined =>
  amount(typeof given === "number" ? String(given) : given)?.nano

type Family = "binary" | "decimal" | "exponent"

const amount = (given: unknown): { readonly nano: bigint; readonly family: Family } | undefined => {
  if (typeof given !== "string") return undefined
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(?:([eE])([+-]?\d{1,3})|([numkMGTPE]|[KMGTPE]i)?)$/.exec(given)
  if (!match) return undefined
  const [, sign = "", whole = "", part = "", exponent, power = "0", suffix = ""] = match
  if (whole + part === "") return undefined
  const digits = BigInt(whole + part)
  const isBinary = suffix.endsWith("i")
  const shift = exponent ? Number(power) : isBinary ? 0 : (DECIMAL.indexOf(suffix) - 3) * 3
  const scale = 9 + shift - part.length
  const base = isBinary ? digits * 1024n ** BigInt(BINARY.indexOf(suffix)) : digits
  const nano = scale >= 0 ? base * 10n ** BigInt(scale) : roundUp(base, 10n ** BigInt(-scale))
  return {
    nano: sign === "-" ? -nano : nano,
    family: exponent ? "exponent" : isBinary ? "binary" : "decimal"
  }
}

const roundUp = (value: bigint, by: bigint): bigint => (value + by - 1n) / by

const binary = (value: bigint): string => {
  let [rest, step] = [value, 0]
  while (rest % 1024n === 0n && step < BINARY.length - 1) {
    rest /= 1024n
    step++
  }
  return `${rest}${BINARY[step]}`
}

const decimal = (nano: bigint, asExponent: boolean): string => {
  let [rest, step] = [nano, 0]
  while (rest % 1000n === 0n && step < DECIMAL.length - 1) {
    rest /= 1000n
    step++
  }
  const power = (step - 3) * 3
  if (!asExponent) return `${rest}${DECIMAL[step]}`
  return power === 0 ? `${rest}` : `${rest}e${power}`
}
