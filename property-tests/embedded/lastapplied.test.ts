/** What a server-side apply of kubectl makes of what it applied on the client's side before. */
import { describe, expect, it } from "vitest"
import type { Response } from "../../src/embedded/cluster.ts"
import { start, step } from "../../src/embedded/model.ts"
import { NOON } from "./stage.ts"

const NOTE = "kubectl.kubernetes.io/last-applied-configuration"
const PATH = "/api/v1/namespaces/default/configmaps"

const config = (data: object): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a" },
  data
})

/** An apply on the server's side, of a map that was applied on the client's side and edited by someone since. */
const applied = (manager: string, data: object, force = "false"): Response => {
  const made = {
    ...config({ own: "1", others: "1" }),
    metadata: { name: "a", annotations: { [NOTE]: JSON.stringify(config({ own: "1", others: "1" })) } }
  }
  const asked = [
    { method: "POST", path: PATH, query: { fieldManager: "kubectl-client-side-apply" }, body: made },
    {
      method: "PATCH",
      path: `${PATH}/a`,
      query: { fieldManager: "editor" },
      contentType: "application/merge-patch+json",
      body: { data: { others: "2" } }
    },
    {
      method: "PATCH",
      path: `${PATH}/a`,
      query: { fieldManager: manager, force },
      contentType: "application/apply-patch+yaml",
      body: config(data)
    }
  ] as const
  let cluster = start(NOON)
  let last: Response | undefined
  for (const each of asked) ({ cluster, response: last } = step(cluster, { ...each, at: NOON }))
  if (last === undefined) throw new Error("nothing was asked")
  return last
}

const note = ({ body }: Response): unknown =>
  (body as { readonly metadata: { readonly annotations: Readonly<Record<string, string>> } }).metadata
    .annotations[NOTE]

describe("an apply on the server's side by kubectl", () => {
  it("may change what kubectl applied on the client's side", () => {
    expect(applied("kubectl", { own: "3" }).code).toBe(200)
  })

  it("conflicts where someone else changed that since", () => {
    const { code, body } = applied("kubectl", { own: "3", others: "3" })
    expect([code, (body as { readonly message: string }).message]).toEqual([
      409,
      'Apply failed with 1 conflict: conflict with "editor" using v1: .data.others'
    ])
  })

  it("brings the note of what was applied up to date", () => {
    expect(note(applied("kubectl", { own: "<3" }))).toBe(
      '{"apiVersion":"v1","data":{"own":"\\u003c3"},"kind":"ConfigMap","metadata":{"name":"a"}}\n'
    )
  })
})

describe("an apply by anyone else", () => {
  it("conflicts with what kubectl applied", () => {
    expect(applied("us", { own: "3" }).code).toBe(409)
  })

  it("leaves the note alone", () => {
    expect(note(applied("us", { own: "3" }, "true"))).toBe(JSON.stringify(config({ own: "1", others: "1" })))
  })
})
