/**
 * The embedded cluster's API server, told the same requests as a real one (tier T6 of reliability): 200 sequences of 1 to 50 requests, whose answers
 * and watches must agree. What is left out stands in aside.ts.
 */
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runs } from "../../property-tests/runs.ts"
import { binaries, CONTROL_PLANE } from "../binaries.ts"
import { type ControlPlane, controlPlane } from "../control-plane.ts"
import { ASIDE, VERSION } from "./aside.ts"
import { EVENTS } from "./events.ts"
import { disagreement, shown } from "./play.ts"
import { sequences } from "./sequences.ts"
import { model, real, type Side } from "./sides.ts"

const found = binaries(CONTROL_PLANE)
const required = process.env["SERVICEGROUP_CLUSTER"] === "required"

/** After this, what was found is told, shrunk or not. */
const LIMIT_MS = 170_000

describe("the model of the API server", () => {
  if (found._tag === "Missing" && required) {
    it("is compared with a real one", () => {
      throw new Error(`SERVICEGROUP_CLUSTER=required, but ${found.reason}`)
    })
    return
  }

  describe.skipIf(found._tag === "Missing")("beside a real one", () => {
    let plane: ControlPlane | undefined
    let sides: readonly [Side, Side] | undefined

    beforeAll(async () => {
      plane = await controlPlane({
        controllers: "none",
        ...(VERSION === "" ? {} : { emulatedVersion: VERSION })
      })
      sides = [await real(plane.client), model()]
    }, 180_000)

    afterAll(() => plane?.stop())

    it("answers what is asked of events in both of their groups as the real one does", async () => {
      const [one, other] = sides ?? []
      if (one === undefined || other === undefined) throw new Error("no control plane")
      const found = await disagreement(EVENTS, "events", one, other)
      if (found !== undefined) throw new Error(shown(found))
    })

    it("answers every sequence of requests as the real one does", async () => {
      const [one, other] = sides ?? []
      if (one === undefined || other === undefined) throw new Error("no control plane")
      let turn = 0
      const agree = fc.asyncProperty(sequences, async (sequence) => {
        const found = await disagreement(sequence, `t${++turn}`, one, other)
        if (found !== undefined) throw new Error(shown(found))
      })
      const parameters = { ...runs(200), interruptAfterTimeLimit: LIMIT_MS, markInterruptAsFailure: true }
      const { failed, errorInstance, numRuns, seed, counterexamplePath } = await fc.check(agree, parameters)
      if (!failed) return
      const why = errorInstance instanceof Error ? errorInstance.message : "took too long"
      throw new Error(`sequence ${numRuns} (seed ${seed}, path ${counterexamplePath ?? ""}): ${why}`)
    })
  })

  it("leaves fewer than ten kinds of answers aside, each for a reason", () => {
    expect(ASIDE.length).toBeLessThan(10)
    for (const { why } of ASIDE) expect(why).not.toBe("")
  })
})
