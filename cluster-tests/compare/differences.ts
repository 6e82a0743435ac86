/** Where two answers differ. */
export interface Difference {
  readonly path: string
  readonly real: unknown
  readonly model: unknown
}

export function* differences(real: unknown, model: unknown, path: string): Generator<Difference> {
  if (Array.isArray(real) && Array.isArray(model) && real.length === model.length) {
    for (const [index, each] of real.entries())
      yield* differences(each, (model as readonly unknown[])[index], `${path}[${index}]`)
  } else if (isObject(real) && isObject(model)) {
    for (const key of new Set([...Object.keys(real), ...Object.keys(model)]))
      yield* differences(own(real, key), own(model, key), `${path}.${key}`)
  } else if (real !== model) yield { path, real, model }
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (fields: Fields, key: string): unknown => (Object.hasOwn(fields, key) ? fields[key] : undefined)
