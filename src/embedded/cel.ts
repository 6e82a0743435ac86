/**
 * CEL rules of a CustomResourceDefinition (`x-kubernetes-validations`), judged at every place of an object that has
 * some. The language is a library's; here are Kubernetes' own functions (`format`) and what a failed rule answers.
 */
import { Environment, Optional } from "@marcbachmann/cel-js"
import { get, isList, isObj, listAt, objAt, same, text, type Obj } from "./json.ts"
import { keyProblems, labelProblems, subdomainProblems, valueProblems } from "./names.ts"
import { duplicate, forbiddenField, invalidValue, required, type Problem } from "./status.ts"

class Format {
  readonly problems: (value: string) => readonly string[]
  constructor(problems: (value: string) => readonly string[]) {
    this.problems = problems
  }
}
class Formats {}

const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/
const label1035 = (value: string): readonly string[] =>
  LABEL_1035.test(value) && value.length <= 63 ? [] : ["a DNS-1035 label must consist of lower case letters"]

const FORMATS: Readonly<Record<string, (value: string) => readonly string[]>> = {
  qualifiedName: keyProblems,
  labelValue: valueProblems,
  dns1123Label: labelProblems,
  dns1123Subdomain: subdomainProblems,
  dns1035Label: label1035
}

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  enableOptionalTypes: true,
  homogeneousAggregateLiterals: false
})
  .registerType("k8sFormat", Format)
  .registerType("k8sFormats", Formats)
  .registerConstant("format", "k8sFormats", new Formats())
  .registerFunction("k8sFormat.validate(string): optional<list<string>>", (format: Format, value: string) => {
    const problems = format.problems(value)
    return problems.length > 0 ? Optional.of(problems) : Optional.none()
  })
  .registerVariable("self", "dyn")
  .registerVariable("oldSelf", "dyn")
for (const [name, problems] of Object.entries(FORMATS)) {
  environment.registerFunction(`k8sFormats.${name}(): k8sFormat`, () => new Format(problems))
}

type Program = (context: Readonly<Record<string, unknown>>) => unknown

const programs = new Map<string, Program>()

const program = (rule: string): Program => {
  const known = programs.get(rule)
  if (known) return known
  const parsed = environment.parse(withoutOptMap(rule))
  const compiled: Program = (context) => parsed(context)
  programs.set(rule, compiled)
  return compiled
}

/** `x.optMap(v, e)` written with what the library knows: the value in a list of one, mapped. */
const withoutOptMap = (rule: string): string => {
  const match = /([A-Za-z_][\w.]*)\.optMap\((\w+),/.exec(rule)
  if (!match) return rule
  const [whole, receiver = "", variable = ""] = match
  const start = match.index + whole.length
  let depth = 1
  let end = start
  for (; end < rule.length && depth > 0; end++) {
    if (rule[end] === "(") depth++
    if (rule[end] === ")") depth--
  }
  const body = rule.slice(start, end - 1)
  const mapped = `(${receiver}.hasValue() ? optional.of([dyn(${receiver}.value())].map(${variable}, ${body})[0]) : optional.none())`
  return rule.slice(0, match.index) + mapped + withoutOptMap(rule.slice(end))
}

/**
 * Whether a value is as it was, as the server tells: a key that the schema doesn't name has no old value, so that nothing above it is ever
 * unchanged. (CorrelatedObject.CachedDeepEqual in k8s.io/apiserver.)
 */
export const isRatcheted = (schema: Obj, now: unknown, then: unknown): boolean => {
  if (isObj(now) && isObj(then)) {
    const keys = Object.keys(now)
    return (
      keys.length === Object.keys(then).length &&
      keys.every((key) => {
        const inner = schemaOf(schema, key)
        return inner !== undefined && Object.hasOwn(then, key) && isRatcheted(inner, now[key], then[key])
      })
    )
  }
  if (isList(now) && isList(then) && text(schema, "x-kubernetes-list-type") === "map") {
    const by = listAt(schema, "x-kubernetes-list-map-keys").map(String)
    const keyOf = (item: unknown): string => JSON.stringify(by.map((key) => get(item, key)))
    const old = new Map(then.map((item) => [keyOf(item), item]))
    const items = objAt(schema, "items")
    return now.length === then.length && now.every((item) => isRatcheted(items, item, old.get(keyOf(item))))
  }
  return same(now, then)
}

/** The schema of a key of an object, where it has one. */
export const schemaOf = (schema: Obj, key: string): Obj | undefined => {
  const properties = objAt(schema, "properties")
  if (Object.hasOwn(properties, key)) return objAt(properties, key)
  return isObj(schema["additionalProperties"]) ? schema["additionalProperties"] : undefined
}

/** What the rules of a schema say against an object; `before` is what it replaces, absent on creation. */
export const ruleProblems = (
  schema: Obj,
  object: unknown,
  before: unknown,
  path = ""
): readonly Problem[] => {
  if (object === undefined || object === null) return []
  const unchanged = before !== undefined && isRatcheted(schema, object, before)
  const problems = listAt(schema, "x-kubernetes-validations").flatMap((rule) =>
    judged(rule, object, before, unchanged, path)
  )
  if (unchanged && !mentionsOld(schema)) return problems
  return [...problems, ...innerProblems(schema, object, before, path)]
}

const innerProblems = (schema: Obj, object: unknown, before: unknown, path: string): readonly Problem[] => {
  if (isList(object)) {
    const items = objAt(schema, "items")
    if (!hasRules(items)) return []
    return object.flatMap((item, index) => ruleProblems(items, item, undefined, `${path}[${index}]`))
  }
  if (!isObj(object)) return []
  const properties = objAt(schema, "properties")
  const additional = objAt(schema, "additionalProperties")
  return Object.keys(object).flatMap((key) => {
    const inner = Object.hasOwn(properties, key) ? objAt(properties, key) : additional
    if (!hasRules(inner)) return []
    const at = Object.hasOwn(properties, key) ? (path === "" ? key : `${path}.${key}`) : `${path}[${key}]`
    return ruleProblems(inner, object[key], get(before, key), at)
  })
}

const withRules = new WeakMap<Obj, boolean>()
const withOld = new WeakMap<Obj, boolean>()

const hasRules = (schema: Obj): boolean => anyRule(schema, withRules, () => true)

const mentionsOld = (schema: Obj): boolean =>
  anyRule(schema, withOld, (rule) => /\boldSelf\b/.test(text(rule, "rule")))

const anyRule = (schema: Obj, cache: WeakMap<Obj, boolean>, test: (rule: unknown) => boolean): boolean => {
  const known = cache.get(schema)
  if (known !== undefined) return known
  const inner = [
    ...Object.values(objAt(schema, "properties")),
    schema["items"],
    schema["additionalProperties"]
  ].filter(isObj)
  const found =
    listAt(schema, "x-kubernetes-validations").some(test) || inner.some((each) => anyRule(each, cache, test))
  cache.set(schema, found)
  return found
}

const judged = (
  rule: unknown,
  self: unknown,
  before: unknown,
  unchanged: boolean,
  path: string
): readonly Problem[] => {
  const expression = text(rule, "rule")
  const usesOld = /\boldSelf\b/.test(expression)
  const optional = get(rule, "optionalOldSelf") === true
  if (usesOld && !optional && before === undefined) return []
  if (unchanged && !usesOld) return []
  const old = optional ? (before === undefined ? Optional.none() : Optional.of(before)) : before
  const context = { self, ...(usesOld ? { oldSelf: old } : {}) }
  const field = joined(path, text(rule, "fieldPath"))
  try {
    if (program(expression)(context) === true) return []
  } catch (error) {
    return [invalid(field, self, `rule evaluation failed: ${String(error)}`)]
  }
  return [failed(rule, field, self, messageOf(rule, context))]
}

const messageOf = (rule: unknown, context: Readonly<Record<string, unknown>>): string => {
  const expression = text(rule, "messageExpression")
  if (expression !== "") {
    try {
      const message = program(expression)(context)
      if (typeof message === "string" && message !== "") return message
    } catch {
      // falls back to the plain message, as the server does
    }
  }
  return text(rule, "message") || `failed rule: ${text(rule, "rule").trim()}`
}

const joined = (path: string, more: string): string => {
  const whole = (path + more).replace(/^\./, "")
  return whole === "" ? "<nil>" : whole
}

/** Objects and lists aren't shown in the message. */
const invalid = (field: string, self: unknown, message: string): Problem =>
  isObj(self) || isList(self)
    ? { type: "invalid", field, body: `Invalid value: ${message}` }
    : invalidValue(field, self, message)

const failed = (rule: unknown, field: string, self: unknown, message: string): Problem => {
  switch (text(rule, "reason")) {
    case "FieldValueRequired":
      return required(field, message)
    case "FieldValueForbidden":
      return forbiddenField(field, message)
    case "FieldValueDuplicate":
      return duplicate(field, self)
    default:
      return invalid(field, self, message)
  }
}
