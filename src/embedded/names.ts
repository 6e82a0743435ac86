/**
 * Which names, label keys and label values are legal, and how the API server says that one isn't.
 */
const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`
const KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

const matches = (pattern: string): ((value: string) => boolean) => {
  const whole = new RegExp(`^${pattern}$`)
  return (value) => whole.test(value)
}
const isLabel = matches(LABEL)
const isSubdomain = matches(SUBDOMAIN)
const isKey = matches(KEY)
const isValue = matches(`(${KEY})?`)

/** The server counts names in characters and the parts of label keys and values in bytes. */
const tooLong = (value: string, limit: number, unit: "bytes" | "characters"): readonly string[] =>
  bytes(value) > limit ? [`must be no more than ${limit} ${unit}`] : []

const bytes = (value: string): number =>
  /^[\0-\x7f]*$/.test(value) ? value.length : new TextEncoder().encode(value).length

const rule = (message: string, pattern: string, ...examples: readonly string[]): string =>
  `${message} (e.g. ${examples.map((each) => `'${each}', `).join(" or ")}regex used for validation is '${pattern}')`

/** What is wrong with a DNS-1123 label; empty where nothing is. */
export const labelProblems = (value: string): readonly string[] => {
  if (isLabel(value)) return tooLong(value, 63, "characters")
  const dotted = isSubdomain(value)
  const message = dotted
    ? "must not contain dots"
    : rule(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        LABEL,
        "my-name",
        "123-abc"
      )
  return [...tooLong(value, 63, "characters"), message]
}

/** What is wrong with a DNS-1123 subdomain. */
export const subdomainProblems = (value: string): readonly string[] =>
  isSubdomain(value)
    ? tooLong(value, 253, "characters")
    : [
        ...tooLong(value, 253, "characters"),
        rule(
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
          SUBDOMAIN,
          "example.com"
        )
      ]

const KEY_MESSAGE =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const keyRule = rule(KEY_MESSAGE, KEY, "MyName", "my.name", "123-abc")

/** What is wrong with a label key (a qualified name). */
export const keyProblems = (key: string): readonly string[] => {
  const parts = key.split("/")
  if (parts.length > 2) {
    return [
      `a valid label key ${keyRule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`
    ]
  }
  const problems: string[] = []
  const name = parts.at(-1) ?? ""
  if (parts.length === 2) {
    const prefix = parts[0] ?? ""
    if (prefix === "") problems.push("prefix part must be non-empty")
    else problems.push(...subdomainProblems(prefix).map((each) => `prefix part ${each}`))
  }
  if (name === "") problems.push("name part must be non-empty")
  else problems.push(...tooLong(name, 63, "bytes").map((each) => `name part ${each}`))
  if (!isKey(name)) problems.push(`name part ${keyRule}`)
  return problems
}

/** What is wrong with a label value. */
export const valueProblems = (value: string): readonly string[] =>
  isValue(value)
    ? tooLong(value, 63, "bytes")
    : [
        ...tooLong(value, 63, "bytes"),
        rule(
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
          `(${KEY})?`,
          "MyValue",
          "my_value",
          "12345"
        )
      ]

/** What is wrong with a name that only has to fit into a path. */
export const segmentProblems = (value: string): readonly string[] => {
  if (value === "." || value === "..") return [`may not be '${value}'`]
  return ["/", "%"].filter((each) => value.includes(each)).map((each) => `may not contain '${each}'`)
}

/** What is wrong with the name of a port. */
export const portNameProblems = (value: string): readonly string[] => {
  const problems = [...tooLong(value, 15, "characters")]
  if (!/^[-a-z0-9]+$/.test(value)) {
    problems.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
  }
  if (!/[a-z]/.test(value)) problems.push("must contain at least one letter (a-z)")
  if (value.includes("--")) problems.push("must not contain consecutive hyphens")
  if (/^-|-$/.test(value)) problems.push("must not begin or end with a hyphen")
  return problems
}
