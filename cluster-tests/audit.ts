/** What the API server says that it was asked: the instrument for "one write" and "no write at all". */
import { readFileSync } from "node:fs"
import { at } from "./client.ts"

export interface Heard {
  readonly verb: string
  /** with its subresource, such as `deploymentgrids/status` */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly code: number
  /** what the server said, where it refused */
  readonly message: string
  /** what was sent, for writes */
  readonly body: unknown
}

/** All requests of a service account so far, in order; `about` stands in each of them. */
export const heard = (log: string, account: string, about: string): readonly Heard[] =>
  readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line.includes(about) && line.endsWith("}"))
    .map((line) => JSON.parse(line) as unknown)
    .filter((entry) => at(entry, "user", "username") === `system:serviceaccount:${account}`)
    .map((entry) => ({
      verb: String(at(entry, "verb")),
      resource: [at(entry, "objectRef", "resource"), at(entry, "objectRef", "subresource")]
        .filter((part) => part !== undefined)
        .join("/"),
      namespace: String(at(entry, "objectRef", "namespace")),
      name: String(at(entry, "objectRef", "name")),
      code: Number(at(entry, "responseStatus", "code")),
      message: String(at(entry, "responseStatus", "message") ?? ""),
      body: at(entry, "requestObject")
    }))

export const isWrite = ({ verb }: Heard): boolean => !["get", "list", "watch"].includes(verb)

/** The writes that aren't statuses, to children and to grids, a line each, sorted. */
export const specWrites = (writes: readonly Heard[]): readonly string[] =>
  writes
    .filter((write) => !write.resource.endsWith("/status"))
    .map((write) => `${write.verb} ${write.resource} ${write.name} ${write.code}`)
    .toSorted()
