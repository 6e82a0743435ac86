/**
 * Answers that say no, as the API server words them: `Status` bodies with reason, details and causes.
 */
import type { Response } from "./cluster.ts"
import { goJson, isList, isObj } from "./json.ts"

export interface Cause {
  readonly reason: string
  readonly message: string
  readonly field?: string
}

/** One thing that is wrong with an object: a cause of a 422. */
export interface Problem {
  readonly type:
    | "required"
    | "invalid"
    | "duplicate"
    | "unsupported"
    | "forbidden"
    | "tooLong"
    | "tooMany"
    | "typeInvalid"
    | "notFound"
  readonly field: string
  readonly body: string
}

/** Thrown inside the model where an answer is already known; `step` gives it back as the response. */
export class Refusal extends Error {
  readonly response: Response
  constructor(response: Response) {
    super("refused")
    this.response = response
  }
}

export interface Name {
  readonly group: string
  readonly plural: string
}

const qualified = ({ group, plural }: Name): string => (group === "" ? plural : `${plural}.${group}`)

interface Details {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly causes?: readonly Cause[]
  readonly retryAfterSeconds?: number
}

const failure = (code: number, reason: string, message: string, details?: Details): Response => ({
  code,
  body: {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details ? { details } : {}),
    code
  }
})

const about = ({ group, plural }: Name, name: string): Details => ({
  ...(name === "" ? {} : { name }),
  ...(group === "" ? {} : { group }),
  kind: plural
})

/** The path is none that the server knows; it answers so before it looks at any object. */
export const unknownPath: Response = failure(
  404,
  "NotFound",
  "the server could not find the requested resource",
  {}
)

export const notFound = (of: Name, name: string): Response =>
  failure(404, "NotFound", `${qualified(of)} ${goJson(name)} not found`, about(of, name))

export const alreadyExists = (of: Name, name: string, deleted: boolean): Response => {
  const message = `${qualified(of)} ${goJson(name)} already exists`
  return failure(
    409,
    "AlreadyExists",
    deleted ? `object is being deleted: ${message}` : message,
    about(of, name)
  )
}

export const conflict = (of: Name, name: string, why: string): Response =>
  failure(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(of)} ${goJson(name)}: ${why}`,
    about(of, name)
  )

export const MODIFIED =
  "the object has been modified; please apply your changes to the latest version and try again"

export const forbidden = (of: Name, name: string, why: string, causes?: readonly Cause[]): Response =>
  failure(
    403,
    "Forbidden",
    name === ""
      ? `${qualified(of)} is forbidden: ${why}`
      : `${qualified(of)} ${goJson(name)} is forbidden: ${why}`,
    { ...about(of, name), ...(causes ? { causes } : {}) }
  )

export const badRequest = (message: string): Response => failure(400, "BadRequest", message)

export const expired = (message: string): Response => failure(410, "Expired", message)

export const methodNotAllowed: Response = failure(
  405,
  "MethodNotAllowed",
  "the server does not allow this method on the requested resource",
  {}
)

/** A content type that no resource takes; `accepted` names those of one that takes fewer than others. */
export const unsupportedMedia = (accepted?: readonly string[]): Response =>
  accepted
    ? failure(
        415,
        "UnsupportedMediaType",
        `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`
      )
    : failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})

/** None of the forms in which the client would take an answer is one that the server has. */
export const notAcceptable = (accept: string | undefined): Response =>
  failure(
    406,
    "NotAcceptable",
    accept?.includes("application/json")
      ? "only the following media types are accepted: application/json, application/yaml"
      : "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/json;stream=watch",
    {}
  )

/** An object that can't be told in the form that was asked for. */
export const notServedAs = (message: string): Response => failure(406, "NotAcceptable", message)

/** A body of more bytes than the server reads. */
export const tooLarge = (limit: number): Response =>
  failure(413, "RequestEntityTooLarge", `Request entity too large: limit is ${limit}`)

/** A JSON patch with an operation that can't be done. */
export const unpatchable = failure(
  422,
  "Invalid",
  "the server rejected our request due to an error in our request",
  {}
)

/** A group that the server doesn't have: not even a Status. */
export const noSuchGroup: Response = {
  code: 404,
  body: "404 page not found\n",
  headers: { "content-type": "text/plain; charset=utf-8" }
}

/** An error that has no reason of its own; server-side apply reports ill-typed objects so. */
export const internal = (message: string): Response => failure(500, "", message)

export const tooLargeVersion = (asked: number, current: number): Response =>
  failure(504, "Timeout", `Timeout: Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1
  })

export const applyConflict = (message: string, causes: readonly Cause[]): Response =>
  failure(409, "Conflict", message, { causes })

const REASONS: Readonly<Record<Problem["type"], string>> = {
  required: "FieldValueRequired",
  invalid: "FieldValueInvalid",
  duplicate: "FieldValueDuplicate",
  unsupported: "FieldValueNotSupported",
  forbidden: "FieldValueForbidden",
  tooLong: "FieldValueTooLong",
  tooMany: "FieldValueTooMany",
  typeInvalid: "FieldValueTypeInvalid",
  notFound: "FieldValueNotFound"
}

/** 422 for an object of a kind; problems that are worded alike are told once in the message. */
export const invalid = (
  group: string,
  kind: string,
  name: string,
  problems: readonly Problem[]
): Response => {
  const lines = [...new Set(problems.map(({ field, body }) => `${field}: ${body}`))]
  const all = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`
  const of = group === "" ? kind : `${kind}.${group}`
  return failure(422, "Invalid", `${of} ${goJson(name)} is invalid${all === undefined ? "" : `: ${all}`}`, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    ...(kind === "" ? {} : { kind }),
    causes: problems.map(({ type, field, body }) => ({ reason: REASONS[type], message: body, field }))
  })
}

export const required = (field: string, detail: string): Problem => ({
  type: "required",
  field,
  body: detail === "" ? "Required value" : `Required value: ${detail}`
})

export const invalidValue = (field: string, value: unknown, detail: string): Problem => ({
  type: "invalid",
  field,
  body: `Invalid value: ${shownValue(value)}${detail === "" ? "" : `: ${detail}`}`
})

export const duplicate = (field: string, value: unknown): Problem => ({
  type: "duplicate",
  field,
  body: `Duplicate value: ${shownValue(value)}`
})

export const unsupported = (field: string, value: unknown, accepted: readonly string[]): Problem => ({
  type: "unsupported",
  field,
  body: `Unsupported value: ${shownValue(value)}: supported values: ${accepted.map((each) => goJson(each)).join(", ")}`
})

export const forbiddenField = (field: string, detail: string): Problem => ({
  type: "forbidden",
  field,
  body: `Forbidden: ${detail}`
})

export const missing = (field: string, value: unknown): Problem => ({
  type: "notFound",
  field,
  body: `Not found: ${shownValue(value)}`
})

export const tooLong = (field: string, limit: number): Problem => ({
  type: "tooLong",
  field,
  body: `Too long: may not be more than ${limit} bytes`
})

const shownValue = (value: unknown): string => {
  if (value === undefined || value === null) return "null"
  return isObj(value) || isList(value) || typeof value === "string" ? goJson(value) : String(value)
}
