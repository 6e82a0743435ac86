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

  it("ends within 20 seconds, three times that where tests share the machine", () => {
    expect(ended.took).toBeLessThan(60_000)
  })

  it("tells its steps in order", () => {
    const titles = run.out.split("\n").filter((line) => /^\d\. /.test(line))
    expect(titles).toEqual([
      "1. A grid for every place",
      "2. Nodes are labelled, units appear",
      "3. A new version, in one unit only",
      "4. Somebody edits a Deployment by hand",
      "5. A node joins, in a place that is new",
      "6. A unit's last node leaves"
    ])
  })

  it("shows the command for each step", () => {
    expect(run.out).toContain("$ kubectl label node bj-1 bj-2 bj-3 location=beijing\n")
    expect(run.out).toContain("$ kubectl apply --server-side -f manifests/examples/echo-canary.yaml\n")
    expect(run.out).toContain("$ kubectl delete node sh-1\n")
  })

  it("ends with two units that have different templates and images", () => {
    const state = endOf(run.out)
    expect(state).toContain("deploymentgrid-demo beijing 3 spec.template 2/2 superedge/echoserver:2.2")
    expect(state).toContain("deploymentgrid-demo guangzhou 3 next 3/3 superedge/echoserver:2.3")
  })

  it("ends without the unit whose last node left", () => {
    expect(run.out).toContain("shanghai")
    expect(endOf(run.out).join("\n")).not.toContain("shanghai")
  })

  it("ends with a Service whose annotation is the grid key", () => {
    expect(endOf(run.out)).toContainEqual(
      expect.stringMatching(/^Service servicegrid-demo-svc 10\.\d+\.\d+\.\d+ topologyKeys: \["location"\]$/)
    )
  })

  it("ends with the conditions of both grids", () => {
    const state = endOf(run.out)
    expect(state).toContain("deploymentgrid-demo Ready=True AllUnitsReady 2 of 2 units are ready")
    expect(state).toContainEqual(expect.stringMatching(/^servicegrid-demo Ready=True /))
    expect(state.filter((line) => line.startsWith("Degraded=False"))).toHaveLength(2)
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
    const pods = (await items(url, "/api/v1/namespaces/default/pods")) as readonly Pod[]
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
    expect(isAlive(controller)).toBe(true)
    const ended = await run.interruptGroup()
    expect([run.err, ended.code, ended.signal]).toEqual(["", 0, null])
    expect(ended.tookSince).toBeLessThan(SOON)
    expect(isAlive(controller)).toBe(false)
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
      await run.writes("2. Nodes are labelled")
      const controller = controllerOf(run)
      const ended = await run.signal(signal)
      expect([run.err, ended.code, ended.signal]).toEqual(["", 0, null])
      expect(ended.tookSince).toBeLessThan(SOON)
      expect(isAlive(controller)).toBe(false)
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

  it("ends when its reader is gone", async () => {
    const run = demo([])
    await run.writes("1. A grid")
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
    const alone = withoutController()
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
    const idle = withoutController()
    try {
      writeFileSync(
        join(idle, "controller.mjs"),
        "console.error('too idle to work'); setInterval(() => {}, 1000)"
      )
      const run = demo(["--once"], {}, idle)
      const ended = await run.ended
      expect(ended.code).toBe(1)
      expect(run.err).toContain("servicegroup: step 1. A grid for every place: not there after 10s:")
      expect(run.err).toContain("  DeploymentGrid deploymentgrid-demo has reason absent, not NoUnits")
      expect(run.err).toContain("  there is no Service servicegrid-demo-svc")
      expect(run.err).toContain("its last words:\n  too idle to work")
      expect(isAlive(controllerOf(run))).toBe(false)
    } finally {
      rmSync(idle, { recursive: true, force: true })
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

/** A copy of what is built, but for the controller. */
const withoutController = (): string => {
  const copy = mkdtempSync(join(tmpdir(), "servicegroup-alone-"))
  cpSync(folder, copy, { recursive: true, filter: (path) => !basename(path).startsWith("controller") })
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

/** The lines of the end state, with single spaces. */
const endOf = (out: string): readonly string[] =>
  out
    .slice(out.indexOf("\nThe end state\n"))
    .split("\n")
    .map((line) => line.trim().replaceAll(/ +/g, " "))
