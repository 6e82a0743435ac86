/** How a script names what it is about: requests as the relay meets them, and rules as people read them. */
import { describe, expect, test } from "vitest"
import { always, asked, once, type Rule, words } from "./relay-script.ts"

const DEPLOYMENTS = "/apis/apps/v1/namespaces/edge/deployments"

describe("asked", () => {
  test.each([
    ["GET", `${DEPLOYMENTS}?limit=100`, "", "list deployments "],
    ["GET", `${DEPLOYMENTS}?limit=100&continue=x`, "", "continue deployments "],
    ["GET", "/api/v1/nodes?watch=true&resourceVersion=7", "", "watch nodes "],
    ["GET", "/api/v1/namespaces/edge", "", "get namespaces edge"],
    ["GET", `${DEPLOYMENTS}/web%2Da`, "", "get deployments web-a"],
    ["PATCH", `${DEPLOYMENTS}/web-a`, "application/apply-patch+yaml", "apply deployments web-a"],
    [
      "PATCH",
      `${DEPLOYMENTS}/web-a/status`,
      "application/merge-patch+json",
      "merge deployments/status web-a"
    ],
    ["POST", "/api/v1/namespaces/edge/events", "application/json", "create events "],
    ["DELETE", "/api/v1/namespaces/edge/services/web-svc", "", "delete services web-svc"]
  ])("%s %s (%s) is %s", (method, target, contentType, expected) => {
    const { verb, kind, name } = asked(method, target, contentType)
    expect(`${verb} ${kind} ${name}`).toBe(expected)
  })
})

describe("words", () => {
  test("say what is done, to which, and when", () => {
    const rules: readonly Rule[] = [
      once({ verb: "write" }, 3, { _tag: "Kill", moment: "between" }),
      { on: { verb: "apply", kind: "deployments" }, nth: 2, times: 2, deed: { _tag: "Hold", ms: 5 } },
      always({ verb: "request" }, { _tag: "Fail", code: 429, reason: "TooManyRequests", retryAfter: 1 })
    ]
    expect(rules.map(words)).toEqual([
      "kill between, at write 3",
      "hold 5 ms, at apply deployments 2-3",
      "fail 429 retry after 1 s, at request 1+"
    ])
  })
})
