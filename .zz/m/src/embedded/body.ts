/**
 * What stands in a request's body: JSON, or YAML where the client says so; at most 3 MB, as the API server takes.
 */
import type { IncomingMessage } from "node:http"
import { parse, type DocumentOptions, type ParseOptions, type SchemaOptions } from "yaml"

export type Body =
  /** what couldn't be understood stays text, with what is wrong with it */
  | { readonly _tag: "Read"; readonly value: unknown; readonly problem?: string }
  | { readonly _tag: "TooLarge" }
  /** the client went away */
  | { readonly _tag: "Lost" }

export const LIMIT = 3 * 1024 * 1024

/** Reads a body to its end and understands it; what is beyond the limit is read and dropped. */
export const read = (request: IncomingMessage): Promise<Body> =>
  new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on("data", (chunk: Buffer) => {
      size += chunk.length
      if (size <= LIMIT) chunks.push(chunk)
      else chunks.length = 0
      if (size > LIMIT * 10) request.destroy()
    })
    request.once("end", () => {
      const text = (): string => Buffer.concat(chunks).toString("utf8")
      resolve(size > LIMIT ? { _tag: "TooLarge" } : understood(text(), request.headers["content-type"] ?? ""))
    })
    request.once("close", () => {
      resolve({ _tag: "Lost" })
    })
  })

/** The value of a text, as its content type says how to read it; text of another type stays text. */
export const understood = (text: string, contentType: string): Body => {
  if (text === "") return { _tag: "Read", value: undefined }
  if (contentType !== "" && !/json|yaml/.test(contentType)) return { _tag: "Read", value: text }
  try {
    const value: unknown = contentType.includes("yaml") ? parse(text, YAML) : JSON.parse(text)
    return { _tag: "Read", value }
  } catch (error) {
    const message = error instanceof Error ? error.message.split("\n")[0] : String(error)
    return { _tag: "Read", value: text, problem: message ?? "" }
  }
}

/** YAML 1.1, as Kubernetes reads it (`yes` is a boolean), except that a date is a text. */
const YAML: ParseOptions & DocumentOptions & SchemaOptions = {
  version: "1.1",
  customTags: (tags) => tags.filter((tag) => typeof tag === "string" || !TIMESTAMPS.test(tag.tag))
}

const TIMESTAMPS = /timestamp$/
