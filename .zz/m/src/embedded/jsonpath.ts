/**
 * The part of Kubernetes' JSONPath that CustomResourceDefinitions use for their columns: names, `['names']`,
 * indexes, `[*]`, and filters that compare one field, `[?(@.type=="Ready")]`.
 */
export type Path = readonly Part[]

type Part =
  | { readonly _tag: "Field"; readonly name: string }
  | { readonly _tag: "Index"; readonly index: number }
  | { readonly _tag: "All" }
  | { readonly _tag: "Filter"; readonly path: Path; readonly operator: string; readonly value: unknown }

/** The path that a text says; undefined where it says something that isn't supported. */
export const parse = (text: string): Path | undefined => {
  const parts: Part[] = []
  let rest = text
  while (rest !== "") {
    const token = PATTERNS.map((each) => each.pattern.exec(rest)).find((match) => match !== null)
    const part = token ? partOf(token) : undefined
    if (token === undefined || part === undefined) return undefined
    parts.push(part)
    rest = rest.slice(token[0].length)
  }
  return parts
}

/** Everything in a value that the path leads to. */
export const select = (path: Path, value: unknown): readonly unknown[] => {
  let found: readonly unknown[] = [value]
  for (const part of path) found = found.flatMap((each) => follow(part, each))
  return found
}

const follow = (part: Part, value: unknown): readonly unknown[] => {
  if (typeof value !== "object" || value === null) return []
  if (part._tag === "Field") {
    const { name } = part
    return !Array.isArray(value) && Object.hasOwn(value, name) ? [value[name as keyof typeof value]] : []
  }
  if (part._tag === "All") return Array.isArray(value) ? value : Object.values(value)
  if (!Array.isArray(value)) return []
  if (part._tag === "Index") {
    const index = part.index < 0 ? value.length + part.index : part.index
    return index < value.length && index >= 0 ? [value[index]] : []
  }
  return value.filter((each) => compare(select(part.path, each)[0], part.operator, part.value))
}

const compare = (left: unknown, operator: string, right: unknown): boolean => {
  if (left === undefined) return false
  const [one, other] = [left as string | number, right as string | number]
  switch (operator) {
    case "==":
      return one === other
    case "!=":
      return one !== other
    case "<":
      return one < other
    case "<=":
      return one <= other
    case ">":
      return one > other
    case ">=":
      return one >= other
    default:
      return false
  }
}

const PATTERNS: readonly { readonly pattern: RegExp }[] = [
  { pattern: /^\[\?\(\s*@(?<path>[^=!<>]*?)\s*(?<operator>==|!=|<=|>=|<|>)\s*(?<value>[^)]*?)\s*\)\]/ },
  { pattern: /^\.?\[(?<star>\*)\]/ },
  { pattern: /^\.(?<star>\*)/ },
  { pattern: /^\.?\[(?<index>-?\d+)\]/ },
  { pattern: /^\.?\[(?:'(?<single>(?:[^'\\]|\\.)*)'|"(?<double>(?:[^"\\]|\\.)*)")\]/ },
  { pattern: /^\.?(?<field>(?:[^.[\]\\]|\\.)+)/ }
]

const partOf = ({ groups }: RegExpExecArray): Part | undefined => {
  const { path, operator, value, star, index } = groups ?? {}
  if (operator !== undefined) {
    const inner = parse(path ?? "")
    return inner === undefined
      ? undefined
      : { _tag: "Filter", path: inner, operator, value: literal(value ?? "") }
  }
  if (star !== undefined) return { _tag: "All" }
  if (index !== undefined) return { _tag: "Index", index: Number(index) }
  const name = groups?.["single"] ?? groups?.["double"] ?? groups?.["field"]
  return name === undefined ? undefined : { _tag: "Field", name: name.replace(/\\(.)/g, "$1") }
}

const literal = (text: string): unknown => {
  const quoted = /^(?:'(?<single>.*)'|"(?<double>.*)")$/s.exec(text)?.groups
  if (quoted) return (quoted["single"] ?? quoted["double"] ?? "").replace(/\\(.)/g, "$1")
  if (text === "true" || text === "false") return text === "true"
  return text !== "" && Number.isFinite(Number(text)) ? Number(text) : text
}
