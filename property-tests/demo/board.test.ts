import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { board, conditions } from "../../src/commands/demo/board.ts"
import { plain } from "../../src/commands/demo/paint.ts"
import { table } from "../../src/commands/demo/table.ts"
import { changed, theEnd } from "./scenes.ts"

describe("board", () => {
  it("has a line for each unit, and one for the Service", () => {
    expect(board(theEnd, 100, plain)).toEqual([
      "GRID                 UNIT       NODES  TEMPLATE       READY  IMAGE",
      "deploymentgrid-demo  beijing    2      spec.template  2/2    superedge/echoserver:2.2",
      "deploymentgrid-demo  guangzhou  4      next           3/3    superedge/echoserver:2.3",
      'Service servicegrid-demo-svc  10.96.0.2  topologyKeys: ["location"]'
    ])
  })

  it("shows a unit that has no Deployment yet", () => {
    const [, , line] = board(changed(theEnd, "workloads.1", undefined), 100, plain)
    expect(line).toBe("deploymentgrid-demo  guangzhou  4      next           -")
  })

  it("shows a unit that has no node any more", () => {
    const nodes = theEnd.nodes.slice(0, 2)
    const [, , line] = board({ ...theEnd, nodes }, 100, plain)
    expect(line).toBe("deploymentgrid-demo  guangzhou  0      next           3/3    superedge/echoserver:2.3")
  })

  it("says which label is missing where a grid has no unit", () => {
    const lines = board({ ...theEnd, nodes: [], workloads: [], services: [] }, 100, plain)
    expect(lines).toEqual([
      "GRID                 UNIT  NODES  TEMPLATE  READY  IMAGE",
      "deploymentgrid-demo  no node has the label location"
    ])
  })

  it("counts pods of the current template alone", () => {
    const status = { observedGeneration: 3, replicas: 4, updatedReplicas: 1, readyReplicas: 3 }
    const [, , line] = board(changed(theEnd, "workloads.1.status", status), 100, plain)
    expect(line).toContain(" 0/3 ")
  })

  it("keeps the end of an image where there is little room", () => {
    const [, line] = board(theEnd, 70, plain)
    expect(line).toMatch(/…\S*:2\.2$/)
  })

  it("is empty where there is no grid", () => {
    expect(board({ ...theEnd, grids: [], serviceGrids: [] }, 100, plain)).toEqual([])
  })
})

describe("conditions", () => {
  it("has a line for each condition of each grid", () => {
    const lines = conditions(theEnd, 100, plain)
    expect(lines).toHaveLength(7)
    expect(lines[1]).toBe("deploymentgrid-demo  Ready=True         AllUnitsReady  it is")
  })
})

describe("table", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "-", "/", ":", "."), maxLength: 40 })
  const rows = fc
    .integer({ min: 1, max: 7 })
    .chain((count) =>
      fc.array(fc.array(text, { minLength: 1, maxLength: count }), { minLength: 1, maxLength: 8 })
    )

  it("is never wider than it may be", () => {
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 120 }), (cells, width) => {
        for (const line of table(
          cells.map((row) => row.map((each) => ({ text: each }))),
          width
        )) {
          expect(line.length).toBeLessThanOrEqual(width)
        }
      }),
      { numRuns: 10_000 }
    )
  })

  it("shows every text whole where there is room", () => {
    fc.assert(
      fc.property(rows, (cells) => {
        const lines = table(
          cells.map((row) => row.map((each) => ({ text: each }))),
          400
        )
        expect(lines.map((line) => line.split(/ +/).join(" ").trim())).toEqual(
          cells.map((row) => row.join(" ").replaceAll(/ +/g, " ").trim())
        )
      }),
      { numRuns: 10_000 }
    )
  })

  it("colours what is shown, and only that", () => {
    const paint = (shown: string): string => `<${shown}>`
    expect(
      table(
        [
          [{ text: "a", paint }, { text: "b" }],
          [{ text: "aaa" }, { text: "b" }]
        ],
        9
      )
    ).toEqual(["<a>    b", "aaa  b"])
  })
})
