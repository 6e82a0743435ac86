/**
 * The demo as a process, as it is built: what it tells, how it ends, and that nothing stays behind.
 *
 * Deadlines are wider than what is promised where other tests share the machine.
 */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { built, type Ended, isAlive, Run, until } from "./bundles.ts"

/** A second is promised, in milliseconds. */
const SOON = 2500

let folder = ""
const runs = new Set<Run>()

beforeAll(() => {
  folder = built()
}, 400_000)

afterEach(() => {
  for (const run of runs) {
    run.kill()
    rmSync(run.temporary, { recursive: true, force: true })
  }
  runs.clear()
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

const demo = (args: readonly string[], env: Readonly<Record<string, string>> = {}, from = folder): Run => {
  const run = new Run(join(from, "servicegroup.mjs"), ["demo", ...args], env)
  runs.add(run)
  return run
}

describe("demo --once", () => {
  let run: Run
  let ended: Ended

  beforeAll(async () => {
    // Variables that are meant for a controller elsewhere don't reach this one.
    run = demo(["--once"], {
      SERVICEGROUP_NAMESPACE: "elsewhere",
      SERVICEGROUP_LOG_LEVEL: "none",
      FORCE_COLOR: "1"
    })
    runs.delete(run)
    ended = await run.ended
  }, 120_000)

  afterAll(() => {
    rmSync(run.temporary, { recursive: true, force: true })
  })

  it("exits with 0 and no word on standard error", () => {
    expect(`${run.err}exit code ${ended.code}`).toBe("exit code 0")
  })

  it("ends within 25 seconds, three times that where tests share the machine", () => {
    expect(ended.took).toBeLessThan(75_000)
  })

  it("tells its steps in order", () => {
    const titles = run.out.split("\n").filter((line) => /^\d+\. /.test(line))
    expect(titles).toEqual([
      "1. Six nodes become two sites",
      "2. A grid for every place",
      "3. A new version, in one unit only",
      "4. Somebody edits a Deployment by hand",
      "5. A node changes its site",
      "6. A node joins, in a place that is new",
      "7. A unit's last node leaves",
      "8. Pods with names, in every place",
      "9. The nodes lose the cloud",
      "10. A wrapper dies, and starts with nothing to ask",
      "11. Meanwhile the cloud goes on",
      "12. The cloud is back"
    ])
  })

  it("shows the command for each step", () => {
    expect(run.out).toContain("$ kubectl apply --server-side -f manifests/examples/sites.yaml\n")
    expect(run.out).toContain(
      `$ kubectl patch nodeunit beijing --type merge -p '{"spec":{"nodes":["bj-1","bj-2"]}}'\n`
    )
    expect(run.out).toContain("$ kubectl apply --server-side -f manifests/examples/echo-canary.yaml\n")
    expect(run.out).toContain("$ kubectl delete node sh-1\n")
  })

  it("ends with two units that have different templates and images", () => {
    const state = endOf(run.out)
    expect(state).toContain("deploymentgrid-demo beijing 2 spec.template 2/2 superedge/echoserver:2.2")
    expect(state).toContain("deploymentgrid-demo guangzhou 4 next 3/3 superedge/echoserver:2.3")
  })

  it("ends with each node's own unit before its kube-proxy", () => {
    const lines = endOf(run.out).filter((line) => /^(?:bj|gz)-\d /.test(line))
    expect(lines.map((line) => line.replaceAll(/\w+ on [-\w]+,?/g, "pod"))).toEqual([
      ...["bj-1", "bj-2"].map((node) => `${node} beijing 2 in beijing pod pod`),
      ...["bj-3", "gz-1", "gz-2", "gz-3"].map((node) => `${node} guangzhou 3 in guangzhou pod pod pod`)
    ])
  })

  it("shows the same before every kube-proxy while the cloud is away", () => {
    const [before, cut, restarted, meanwhile, back] = [6, 9, 10, 11, 12].map((step) => nodesIn(run.out, step))
    expect(before).toHaveLength(6)
    expect([cut, restarted, meanwhile]).toEqual([before, before, before])
    expect(back?.slice(0, 2)).toEqual(before?.slice(0, 2))
    expect(back).not.toEqual(before)
  })

  it("ends without the Deployment of the unit whose last node left", () => {
    expect(run.out).toMatch(/deploymentgrid-demo +shanghai/)
    expect(endOf(run.out).filter((line) => line.includes("shanghai"))).toEqual(["shanghai location 0/0"])
  })

  it("moves the traffic of the node that changed its site, and no other", () => {
    const [before, after] = [3, 5].map((step) =>
      Object.fromEntries(
        nodesIn(run.out, step).map((line) => {
          const [node = "", unit = "", ...reaches] = line.trim().split(/ +/)
          return [node, [unit, reaches.join(" ")]]
        })
      )
    )
    expect(Object.keys(before ?? {})).toHaveLength(6)
    expect(after).toEqual({ ...before, "bj-3": before?.["gz-1"] })
    expect(before?.["bj-3"]).toEqual(before?.["bj-1"])
    expect(before?.["bj-1"]).not.toEqual(before?.["gz-1"])
  })

  it("ends with a Service whose annotation is the grid key", () => {
    expect(endOf(run.out)).toContainEqual(
      expect.stringMatching(/^Service servicegrid-demo-svc 10\.\d+\.\d+\.\d+ topologyKeys: \["location"\]$/)
    )
  })

  it("ends with the conditions of all grids", () => {
    const state = endOf(run.out)
    expect(state).toContain("deploymentgrid-demo Ready=True AllUnitsReady 2 of 2 units are ready")
    expect(state).toContainEqual(expect.stringMatching(/^servicegrid-demo Ready=True /))
    expect(state.filter((line) => line.startsWith("Degraded=False"))).toHaveLength(4)
  })

  it("ends with each place's own pods under the short names, and all pods under their full ones", () => {
    const names = endOf(run.out).filter((line) => /^web-[-\w]+\.web-svc /.test(line))
    const there = (name: string): string => `10\\.244\\.\\d+\\.\\d+ web-${name}`
    expect(names).toEqual(
      [
        ["0", "beijing-0", "guangzhou-0"],
        ["1", "beijing-1", "guangzhou-1"],
        ["beijing-0", "beijing-0", "beijing-0"],
        ["guangzhou-0", "guangzhou-0", "guangzhou-0"]
      ].map(
        ([name = "", onBj = "", onGz = ""]) =>
          expect.stringMatching(new RegExp(`^web-${name}\\.web-svc ${there(onBj)} ${there(onGz)}$`)) as string
      )
    )
  })

  it("writes no control characters into a pipe", () => {
    // oxlint-disable-next-line no-control-regex
    expect(run.out).not.toMatch(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/)
  })

  it("leaves no file behind", () => {
    expect(run.leftovers()).toEqual([])
  })
})

describe("demo", () => {
  it("serves the state that it tells, until Ctrl-C", async () => {
    const run = demo([])
    await run.writes("Ctrl-C ends it all.")
    const url = urlOf(run)
    const deployments = (await items(url, "/apis/apps/v1/deployments")) as readonly Workload[]
    expect(deployments.map(({ metadata, spec }) => [metadata.name, spec.replicas, imageOf(spec)])).toEqual([
      ["deploymentgrid-demo-beijing", 2, "superedge/echoserver:2.2"],
      ["deploymentgrid-demo-guangzhou", 3, "superedge/echoserver:2.3"]
    ])
    const nodes = new Map(
      ((await items(url, "/api/v1/nodes")) as readonly Labelled[]).map(({ metadata }) => [
        metadata.name,
        metadata.labels["location"]
      ])
    )
    const pods = ((await items(url, "/api/v1/namespaces/default/pods")) as readonly Pod[]).filter(
      ({ metadata }) => metadata.labels["appGrid"] === "echo"
    )
    expect(
      pods.map(({ spec }) => `${nodes.get(spec.nodeName)} ${imageOf({ template: { spec } })}`).sort()
    ).toEqual([
      ...Array<string>(2).fill("beijing superedge/echoserver:2.2"),
      ...Array<string>(3).fill("guangzhou superedge/echoserver:2.3")
    ])
    const [service] = ((await items(url, "/api/v1/services")) as readonly Labelled[]).filter(
      ({ metadata }) => metadata.name === "servicegrid-demo-svc"
    )
    expect(service?.metadata.annotations).toMatchObject({ topologyKeys: '["location"]' })

    const controller = controllerOf(run)
    const children = wrappersOf(run)
    expect(children).toHaveLength(6)
    // One of them was killed in the story, and started anew.
    expect([controller, ...children].filter(isAlive)).toHaveLength(6)
    const ended = await run.interruptGroup()
    expect([run.err, ended.code, ended.signal]).toEqual(["", 0, null])
    expect(ended.tookSince).toBeLessThan(SOON)
    expect([controller, ...children].filter(isAlive)).toEqual([])
    expect(run.leftovers()).toEqual([])
    await expect(fetch(`${url}/livez`)).rejects.toThrow()
  })

  it("goes on reconciling while it stays up", async () => {
    const run = demo(["--no-color"])
    await run.writes("Ctrl-C ends it all.")
    const url = urlOf(run)
    const moved = await fetch(`${url}/api/v1/nodes/gz-3`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json" },
      body: JSON.stringify({ metadata: { labels: { location: "shenzhen" } } })
    })
    expect(moved.status).toBe(200)
    await until("the Deployment of shenzhen with 2 pods ready", async () => {
      const all = (await items(url, "/apis/apps/v1/deployments")) as readonly Workload[]
      return all.some(
        ({ metadata, status }) =>
          metadata.name === "deploymentgrid-demo-shenzhen" && status?.readyReplicas === 2
      )
    })
    expect((await run.signal("SIGTERM")).code).toBe(0)
  })

  it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
    "ends at %s in the middle of the story",
    async (signal) => {
      const run = demo([])
      await run.writes("2. A grid for")
      const children = [controllerOf(run), ...wrappersOf(run)]
      const ended = await run.signal(signal)
      expect([run.err, ended.code, ended.signal]).toEqual(["", 0, null])
      expect(ended.tookSince).toBeLessThan(SOON)
      expect(children.filter(isAlive)).toEqual([])
      expect(run.leftovers()).toEqual([])
    }
  )

  it("tells the last words of a controller that dies", async () => {
    const run = demo([])
    await run.writes("Ctrl-C ends it all.")
    process.kill(controllerOf(run), "SIGKILL")
    expect((await run.ended).code).toBe(1)
    expect(run.err).toMatch(
      /^servicegroup: the controller was ended by SIGKILL\nits last words:\n {2}timestamp=/
    )
    expect(run.leftovers()).toEqual([])
  })

  it("tells the last words of a wrapper that dies", async () => {
    const run = demo([])
    await run.writes("2. A grid for")
    process.kill(wrappersOf(run)[4] ?? 0, "SIGKILL")
    expect((await run.ended).code).toBe(1)
    expect(run.err).toMatch(/^servicegroup: the wrapper of gz-2 was ended by SIGKILL\n/)
    expect(run.leftovers()).toEqual([])
  })

  it("ends when its reader is gone", async () => {
    const run = demo([])
    await run.writes("1. Six nodes")
    const controller = controllerOf(run)
    run.process.stdout?.destroy()
    expect([(await run.ended).code, run.err]).toEqual([0, ""])
    expect(isAlive(controller)).toBe(false)
    expect(run.leftovers()).toEqual([])
  })
})

describe("what can't be", () => {
  it("names the port that another program listens on", async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    try {
      const run = demo(["--port", String(port)])
      const ended = await run.ended
      expect(ended.code).toBe(1)
      expect(run.err).toBe(
        `servicegroup: --port ${port}: another program listens on it; give another one, or 0 for any that is free\n`
      )
      // Five where nothing else runs.
      expect(ended.took).toBeLessThan(15_000)
      expect(run.leftovers()).toEqual([])
    } finally {
      server.close()
    }
  })

  it("refuses a port that is none", async () => {
    const run = demo([], { SERVICEGROUP_PORT: "70000" })
    expect((await run.ended).code).toBe(1)
    expect(run.err).toContain("--port (SERVICEGROUP_PORT): 70000 can't be used; accepted: 0 to 65535")
  })

  it("says what is missing where the controller isn't built", async () => {
    const alone = without("controller")
    try {
      const run = demo(["--once"], {}, alone)
      expect((await run.ended).code).toBe(1)
      expect(run.err).toContain("controller.mjs isn't there: run npm run build first")
      expect(run.leftovers()).toEqual([])
    } finally {
      rmSync(alone, { recursive: true, force: true })
    }
  })

  it("names what did not come where the controller does nothing", async () => {
    const idle = without("controller")
    try {
      writeFileSync(
        join(idle, "controller.mjs"),
        "console.error('too idle to work'); setInterval(() => {}, 1000)"
      )
      const run = demo(["--once"], {}, idle)
      const ended = await run.ended
      expect(ended.code).toBe(1)
      expect(run.err).toContain("servicegroup: step 1. Six nodes become two sites: not there after 15s:")
      expect(run.err).toContain("  NodeGroup location has the units none, not beijing, guangzhou")
      expect(run.err).toContain("  node bj-1 has location=, not beijing")
      expect(run.err).toContain("its last words:\n  too idle to work")
      expect(isAlive(controllerOf(run))).toBe(false)
    } finally {
      rmSync(idle, { recursive: true, force: true })
    }
  })

  it("tells the last words of a wrapper that can't start", async () => {
    const broken = without("wrapper")
    try {
      writeFileSync(join(broken, "wrapper.mjs"), "console.error('not today'); process.exit(3)")
      const run = demo(["--once"], {}, broken)
      expect((await run.ended).code).toBe(1)
      expect(run.err).toMatch(
        /^servicegroup: the wrapper of (?:bj|gz)-\d ended with exit code 3\nits last words:\n {2}not today\n$/
      )
      expect(run.leftovers()).toEqual([])
    } finally {
      rmSync(broken, { recursive: true, force: true })
    }
  })

  it("names the nodes whose wrapper shows more than their unit", async () => {
    const open = without("wrapper")
    try {
      writeFileSync(join(open, "wrapper.mjs"), OPEN)
      const run = demo(["--once"], {}, open)
      expect((await run.ended).code).toBe(1)
      expect(run.err).toContain("servicegroup: step 2. A grid for every place: not there after 15s:")
      expect(run.err).toMatch(
        / {2}kube-proxy on gz-3 gets \w+ on bj-\d, .*, \w+ on gz-\d; it should be \w+ on gz-\d, \w+ on gz-\d\n/
      )
    } finally {
      rmSync(open, { recursive: true, force: true })
    }
  })
})

describe("demo --help", () => {
  it("has examples", async () => {
    const run = demo(["--help"])
    expect((await run.ended).code).toBe(0)
    expect(run.out).toContain("servicegroup demo --once")
    expect(run.out).toContain("SERVICEGROUP_PORT")
  })
})

/** A wrapper that passes on all that the API server has. */
const OPEN = `
import { createServer, request } from "node:http"
import { readFileSync } from "node:fs"
const flag = "--kubeconfig="
const given = process.argv.find((word) => word.startsWith(flag))
const config = readFileSync(given.slice(flag.length), "utf8")
const upstream = /server: (\\S+)/.exec(config)[1]
const server = createServer((asked, answer) => {
  const passed = request(upstream + asked.url, { agent: false }, (got) => got.pipe(answer))
  passed.on("error", () => answer.destroy())
  passed.end()
})
server.listen(0, "127.0.0.1", () => console.error("message=serving port=" + server.address().port + " "))
`

/** A copy of what is built, but for one program. */
const without = (name: string): string => {
  const copy = mkdtempSync(join(tmpdir(), "servicegroup-alone-"))
  cpSync(folder, copy, { recursive: true, filter: (path) => !basename(path).startsWith(name) })
  return copy
}

interface Labelled {
  readonly metadata: {
    readonly name: string
    readonly labels: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
}

interface PodSpec {
  readonly nodeName: string
  readonly containers: readonly { readonly image: string }[]
}

interface Pod extends Labelled {
  readonly spec: PodSpec
}

interface Workload extends Labelled {
  readonly spec: { readonly replicas: number; readonly template: { readonly spec: PodSpec } }
  readonly status?: { readonly readyReplicas?: number }
}

const imageOf = ({ template }: { readonly template: { readonly spec: PodSpec } }): string =>
  template.spec.containers[0]?.image ?? ""

const items = async (url: string, path: string): Promise<readonly unknown[]> =>
  ((await (await fetch(url + path)).json()) as { readonly items: readonly unknown[] }).items

const urlOf = (run: Run): string => /http:\/\/127\.0\.0\.1:\d+/.exec(run.out)?.[0] ?? ""

const controllerOf = (run: Run): number =>
  Number(/as process (\d+)/.exec(run.out.replaceAll(/\s+/g, " "))?.[1])

const wrappersOf = (run: Run): readonly number[] =>
  (/processes ((?:\d+, )+\d+)/.exec(run.out.replaceAll(/\s+/g, " "))?.[1] ?? "").split(", ").map(Number)

/** What a step shows of the nodes. */
const nodesIn = (out: string, step: number): readonly string[] =>
  (new RegExp(`^${step}\\. [^]*?\n\n(?=\\d+\\. |The end)`, "m").exec(out)?.[0] ?? "")
    .split("\n")
    .filter((line) => /^ +(?:bj|gz)-\d /.test(line))

/** The lines of the end state, with single spaces. */
const endOf = (out: string): readonly string[] =>
  out
    .slice(out.indexOf("\nThe end state\n"))
    .split("\n")
    .map((line) => line.trim().replaceAll(/ +/g, " "))
