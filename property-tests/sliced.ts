/** What tests of the wrapper's core are given: bytes of objects, written in many ways. */
import { expect } from "vitest"
import type { Malformed } from "../src/core/scan.ts"
import { endpoints, slice, type Slice } from "../src/core/slice.ts"
import type { Obj } from "./naive.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytesOf = (value: unknown): Uint8Array =>
  encoder.encode(typeof value === "string" ? value : JSON.stringify(value))

export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)

export const objectOf = (bytes: Uint8Array): Obj => JSON.parse(textOf(bytes)) as Obj

export const asIs = (text: string): string => text

export const isMalformed = (value: object): value is Malformed =>
  "_tag" in value && (value as Malformed)._tag === "Malformed"

/** The index of a slice's bytes, which must be one. */
export const sliceOf = (value: unknown): Slice => sound(slice(bytesOf(value), asIs))

/** The index of the bytes of an Endpoints object, which must be one. */
export const endpointsOf = (value: unknown): Slice => sound(endpoints(bytesOf(value), asIs))

export const sound = <A extends object>(value: A | Malformed): A => {
  if (isMalformed(value)) expect.fail(value.message)
  return value
}

/** JSON text of a value, with white space and escapes as a list of numbers says. */
export const written = (value: unknown, whims: readonly number[]): string => {
  if (whims.length === 0) return JSON.stringify(value)
  let at = 0
  const whim = (below: number): number => (whims[at++ % whims.length] ?? 0) % below
  const space = (): string => ["", "", "", " ", "\n\t", "\r\n  "][whim(6)] ?? ""
  const letter = (char: string): string => {
    if (char === "/" && whim(2) === 1) return "\\/"
    const lone = char >= "\ud800" && char <= "\udfff"
    if (char < " " || char === '"' || char === "\\" || lone) return JSON.stringify(char).slice(1, -1)
    const how = whim(5)
    if (how < 3) return char
    const hex = char.charCodeAt(0).toString(16).padStart(4, "0")
    return `\\u${how === 3 ? hex : hex.toUpperCase()}`
  }
  const text = (given: string): string => {
    let all = ""
    // whole characters: halves of a pair may be escaped, but not written as they are
    for (const char of given) all += char.length === 2 ? char : letter(char)
    return `"${all}"`
  }
  const write = (each: unknown): string => {
    if (typeof each === "string") return text(each)
    if (Array.isArray(each))
      return `[${space()}${each.map((item) => `${write(item)}${space()}`).join(`,${space()}`)}]`
    if (typeof each !== "object" || each === null) return JSON.stringify(each)
    const fields = Object.entries(each).filter(([, field]) => field !== undefined)
    // Node 26's JSON.parse may take an escaped key of one character for a backslash, so such keys are written plainly
    const name = (key: string): string => (key.length === 1 ? JSON.stringify(key) : text(key))
    const inner = fields.map(([key, field]) => `${name(key)}${space()}:${space()}${write(field)}${space()}`)
    return `{${space()}${inner.join(`,${space()}`)}}`
  }
  return `${space()}${write(value)}${space()}`
}
