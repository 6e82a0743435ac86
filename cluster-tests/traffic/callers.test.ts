/** The judgement of requests, on replies whose verdict is known. */
import { describe, expect, test } from "vitest"
import { type Epoch, judged } from "./callers.ts"
import type { Reply } from "./messages.ts"

describe("judged", () => {
  test("counts what the rule of the time allows", () => {
    const epochs = [from(0, { may: ["bj-1", "bj-2"] }), from(100, { may: ["bj-1"], unanswered: ["bj-1"] })]
    const replies = [answer(10, 11, "bj-2"), answer(20, 21, "bj-1"), failure(110, 111)]
    expect(judged("bj-1", replies, epochs)).toEqual({ answered: 2, unanswered: 1 })
  })

  test("fails when another unit answers, and says whose pod and when", () => {
    const epochs = [from(0, { may: ["bj-1"], what: "all is quiet" })]
    expect(() => judged("bj-1", [answer(10, 11, "gz-1")], epochs)).toThrow(
      "a request from bj-1 was answered by echo gz-1 (during: all is quiet)"
    )
  })

  test("fails when nobody answers where somebody must", () => {
    const epochs = [from(0, { may: ["bj-1"], unanswered: ["gz-1"], what: "gz-1 is empty" })]
    expect(() => judged("bj-1", [failure(10, 11)], epochs)).toThrow(
      "a request from bj-1 failed with ECONNREFUSED (during: gz-1 is empty)"
    )
    expect(judged("gz-1", [failure(10, 11)], epochs).unanswered).toBe(1)
  })

  test("judges a request that a change met by both rules, and one after it by the later alone", () => {
    const epochs = [from(0, { may: ["bj-1"] }), from(100, { may: ["gz-1"] })]
    expect(judged("bj-1", [answer(99, 101, "bj-1"), answer(99, 101, "gz-1")], epochs).answered).toBe(2)
    expect(() => judged("bj-1", [answer(101, 102, "bj-1")], epochs)).toThrow("was answered by echo bj-1")
    expect(() => judged("bj-1", [answer(98, 99, "gz-1")], epochs)).toThrow("was answered by echo gz-1")
  })
})

const from = (
  moment: number,
  rule: { readonly may: readonly string[]; readonly unanswered?: readonly string[]; readonly what?: string }
): Epoch => ({
  from: moment,
  what: rule.what ?? "a test",
  may: () => new Set(rule.may),
  unanswered: new Set(rule.unanswered)
})

const answer = (begun: number, ended: number, node: string): Reply => ({
  from: begun,
  to: ended,
  answer: `echo ${node}`
})

const failure = (begun: number, ended: number): Reply => ({ from: begun, to: ended, failure: "ECONNREFUSED" })
