/** The wrapper's manifests on a real control plane: applied twice, enough for a wrapper to be ready, and its README's commands there and back. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { describe, expect } from "vitest"
import { heard } from "./audit.ts"
import { binaries, CONTROL_PLANE } from "./binaries.ts"
import { at } from "./client.ts"
import { kubeconfigOf } from "./control-plane.ts"
import { accessOf, bundle } from "./controller.ts"
import { GivenUp, until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { daemon, freePorts, lastWords } from "./processes.ts"
import { clusterTest } from "./skip.ts"
import { WRAPPER_ENV, WRAPPER_FLAGS } from "./v8-flags.ts"

const FOLDER = join(import.meta.dirname, "../manifests/wrapper")
const DNS_FOLDER = join(import.meta.dirname, "../manifests/wrapper-dns")
const ACCOUNT = "edge-system:servicegroup-wrapper"

const plane = ownPlane({ controllers: "none" }, async (begun) => {
  await node(begun.client, "bj-1", { zone: "beijing" })
  await done(begun.kubectl(["apply", "-k", FOLDER]))
})

describe("manifests/wrapper", () => {
  clusterTest("says unchanged the second time", async () => {
    const said = await done(plane().kubectl(["apply", "-k", FOLDER]))
    for (const line of said.trim().split("\n")) expect(line).toMatch(/ unchanged$/)
  })

  clusterTest("is taken by the server as it is, no field unknown", async () => {
    const said = await plane().kubectl(["apply", "-k", FOLDER, "--validate=strict", "--dry-run=server"])
    expect([said.code, said.stderr]).toEqual([0, ""])
  })

  clusterTest("gives an account that is enough for a wrapper, and refused nothing", async () => {
    const { audit } = plane()
    const [listen = 0] = await freePorts(1)
    await using _ = await ready("wrapper", [`--listen=127.0.0.1:${listen}`])
    // all that is served, and what kube-proxy asks for besides
    for (const path of SERVED) {
      const answer = await fetch(`http://127.0.0.1:${listen}${path}`)
      expect([path, answer.status]).toEqual([path, 200])
    }
    const posted = await fetch(`http://127.0.0.1:${listen}/apis/events.k8s.io/v1/namespaces/default/events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(event)
    })
    expect([posted.status, await posted.text()]).toEqual([201, expect.any(String)])
    const requests = heard(audit, ACCOUNT, "")
    expect(requests.map(({ verb, resource }) => `${verb} ${resource}`)).toContain("create events")
    expect(requests.filter(({ code }) => code === 403)).toEqual([])
  })

  clusterTest("has a README whose commands point kube-proxy at the wrapper, and back", async () => {
    const { kubectl, folder } = plane()
    const before = {
      "kubeconfig.conf": "clusters:\n- cluster:\n    server: https://192.0.2.9:6443\n",
      other: "x"
    }
    const metadata = { name: "kube-proxy", namespace: "kube-system" }
    const input = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data: before })
    await done(kubectl(["create", "-f", "-"], { input }))
    const now = async (): Promise<unknown> =>
      at(await plane().client.get("/api/v1/namespaces/kube-system/configmaps/kube-proxy"), "data")
    // a line that ends with | goes on in the next one
    const commands = readFileSync(join(FOLDER, "README.md"), "utf8")
      .replaceAll(/[|]\n\s+/g, "| ")
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => /^(?:kubectl|sed) .*kube-proxy-before[.]yaml/.test(line))
    const [there = "", back = ""] = commands
    expect(commands).toEqual([there, back])
    const place = join(folder, "by-hand")
    if (!existsSync(place)) mkdirSync(place)
    shell(place, there)
    expect(await now()).toEqual({
      ...before,
      "kubeconfig.conf": "clusters:\n- cluster:\n    server: http://127.0.0.1:51006\n"
    })
    shell(place, back)
    expect(await now()).toEqual(before)
  })
})

describe("manifests/wrapper-dns", () => {
  clusterTest("says unchanged the second time, no field unknown", async () => {
    const { kubectl } = plane()
    await done(kubectl(["apply", "--server-side", "-k", join(FOLDER, "../crds")]))
    await done(kubectl(["apply", "-k", DNS_FOLDER, "--validate=strict"]))
    const said = await done(kubectl(["apply", "-k", DNS_FOLDER]))
    for (const line of said.trim().split("\n")) expect(line).toMatch(/ unchanged$/)
    const args = await done(kubectl(["get", "ds", "-n", "edge-system", "-o", "jsonpath={..args}"]))
    expect(args).toContain("--dns-listen=127.0.0.1:51009")
  })

  clusterTest(
    "gives an account that is enough for a wrapper with short names, and refused nothing",
    async () => {
      const { audit } = plane()
      const [listen = 0, dns = 0] = await freePorts(2)
      const begin = heard(audit, ACCOUNT, "").length
      {
        const flags = [`--listen=127.0.0.1:${listen}`, `--dns-listen=127.0.0.1:${dns}`]
        await using _ = await ready("wrapper-dns", flags)
        for (const path of SERVED) {
          const answer = await fetch(`http://127.0.0.1:${dns}${path}`)
          expect([path, answer.status]).toEqual([path, 200])
        }
      }
      const wanted = ["statefulsetgrids", "statefulsets"].flatMap((kind) => [`list ${kind}`, `watch ${kind}`])
      const requests = () => heard(audit, ACCOUNT, "").slice(begin)
      // Of a watch the audit tells once it is over.
      await until({ what: `in the audit: ${wanted.join(", ")}`, seconds: 30 }, () => {
        const asked = new Set(requests().map(({ verb, resource }) => `${verb} ${resource}`))
        return wanted.every((each) => asked.has(each))
      })
      expect(requests().filter(({ code }) => code === 403)).toEqual([])
    }
  )
})

/** A wrapper with the manifest's account, once it is ready. */
const ready = async (name: string, flags: readonly string[]): Promise<AsyncDisposable> => {
  const { folder, daemons } = plane()
  const kubeconfig = join(folder, "wrapper.kubeconfig")
  writeFileSync(kubeconfig, kubeconfigOf(await accessOf(plane(), ACCOUNT)))
  const [health = 0] = await freePorts(1)
  const command = [
    process.execPath,
    ...WRAPPER_FLAGS,
    join(bundle(folder), "wrapper.mjs"),
    "--node-name=bj-1",
    `--kubeconfig=${kubeconfig}`,
    `--snapshot=${join(folder, `${name}-snapshot`)}`,
    `--health-address=127.0.0.1:${health}`,
    ...flags
  ]
  const running = daemon(name, command, {
    folder,
    log: join(folder, `${name}.log`),
    env: { ...WRAPPER_ENV, PATH: process.env["PATH"], HOME: folder, TMPDIR: folder }
  })
  daemons.set(name, running)
  await until({ what: `the wrapper's /readyz (log: ${running.log})`, seconds: 90 }, async () => {
    const ending = running.ending()
    if (ending !== undefined) throw new GivenUp(`the wrapper ${ending}: ${lastWords(running.log)}`)
    return (await fetch(`http://127.0.0.1:${health}/readyz`)).status === 200
  })
  return {
    [Symbol.asyncDispose]: async () => {
      await running.kill()
      daemons.delete(name)
    }
  }
}

const SERVED = [
  "/api/v1/services",
  "/api/v1/endpoints",
  "/apis/discovery.k8s.io/v1/endpointslices",
  "/api/v1/nodes?fieldSelector=metadata.name%3Dbj-1",
  "/api/v1/nodes/bj-1",
  "/api/v1/namespaces",
  "/apis/networking.k8s.io/v1/servicecidrs"
]

const event = {
  apiVersion: "events.k8s.io/v1",
  kind: "Event",
  metadata: { name: "started", namespace: "default" },
  eventTime: "2026-01-01T00:00:00.000000Z",
  type: "Normal",
  reason: "Starting",
  action: "StartKubeProxy",
  reportingController: "kube-proxy",
  reportingInstance: "kube-proxy-bj-1",
  regarding: { kind: "Node", name: "bj-1", uid: "bj-1" }
}

/** Runs a line as a person would, with the cluster's kubectl. */
const shell = (folder: string, line: string): void => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Missing") throw new Error(found.reason)
  const PATH = [found.folder, process.env["PATH"] ?? ""].join(delimiter)
  execFileSync("/bin/sh", ["-ec", line], {
    cwd: folder,
    env: { PATH, HOME: folder, KUBECONFIG: plane().kubeconfig },
    stdio: ["ignore", "pipe", "pipe"]
  })
}
