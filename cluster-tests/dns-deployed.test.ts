/** The DNS daemon's manifests on a real control plane: applied twice, enough for a daemon to be ready, and their README's commands there and back. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { describe, expect } from "vitest"
import { heard } from "./audit.ts"
import { binaries, CONTROL_PLANE } from "./binaries.ts"
import { at } from "./client.ts"
import { kubeconfigOf } from "./control-plane.ts"
import { accessOf, bundle, defined } from "./controller.ts"
import { GivenUp, until } from "./deadline.ts"
import { done } from "./kubectl.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { daemon, freePorts, lastWords } from "./processes.ts"
import { clusterTest } from "./skip.ts"
import { DNS_FLAGS } from "./v8-flags.ts"

const FOLDER = join(import.meta.dirname, "../manifests/dns")
const ACCOUNT = "edge-system:servicegroup-dns"

const plane = ownPlane({ controllers: "none" }, async (begun) => {
  await node(begun.client, "bj-1", { zone: "beijing" })
  await defined(begun)
  await done(begun.kubectl(["apply", "-k", FOLDER, "--validate=strict"]))
})

describe("manifests/dns", () => {
  clusterTest("says unchanged the second time", async () => {
    const said = await done(plane().kubectl(["apply", "-k", FOLDER]))
    for (const line of said.trim().split("\n")) expect(line).toMatch(/ unchanged$/)
  })

  clusterTest("gives an account that is enough for a daemon, and refused nothing", async () => {
    const { folder, audit, daemons, kubectl } = plane()
    await done(kubectl(["create", "-f", "-"], { input: JSON.stringify(await web()) }))
    const kubeconfig = join(folder, "dns.kubeconfig")
    writeFileSync(kubeconfig, kubeconfigOf(await accessOf(plane(), ACCOUNT)))
    const [health = 0] = await freePorts(1)
    const file = join(folder, "dns", "hosts")
    const command = [
      process.execPath,
      ...DNS_FLAGS,
      join(bundle(folder), "dns.mjs"),
      "--node-name=bj-1",
      `--kubeconfig=${kubeconfig}`,
      `--hosts-file=${file}`,
      `--health-address=127.0.0.1:${health}`
    ]
    const running = daemon("dns", command, {
      folder,
      log: join(folder, "dns.log"),
      env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder }
    })
    daemons.set("dns", running)
    await until({ what: `the daemon's /readyz (log: ${running.log})`, seconds: 90 }, async () => {
      const ending = running.ending()
      if (ending !== undefined) throw new GivenUp(`the daemon ${ending}: ${lastWords(running.log)}`)
      return (await fetch(`http://127.0.0.1:${health}/readyz`)).status === 200
    })
    const names = ["web-0", "web-beijing-0"].map((host) => `${host}.web-svc.default.svc.cluster.local`)
    expect(readFileSync(file, "utf8").split("\n")[1]).toBe(`10.1.0.5 ${names.join(" ")}`)
    await running.kill()
    daemons.delete("dns")

    const kinds = ["statefulsetgrids", "statefulsets", "endpointslices", "nodes"]
    const wanted = kinds.flatMap((kind) => [`list ${kind}`, `watch ${kind}`])
    const requests = () =>
      heard(audit, ACCOUNT, "").map((each) => ({ ...each, did: `${each.verb} ${each.resource}` }))
    // Of a watch the audit tells once it is over.
    await until({ what: `in the audit: ${wanted.join(", ")}`, seconds: 30 }, () =>
      wanted.every((each) => requests().some(({ did }) => did === each))
    )
    expect(new Set(requests().map(({ did }) => did))).toEqual(new Set(wanted))
    expect(requests().filter(({ code }) => code === 403)).toEqual([])
  })

  clusterTest(
    "has a README whose commands lead the cluster's DNS Service to every node, and back",
    async () => {
      const { client, kubectl } = plane()
      const path = "/api/v1/namespaces/kube-system/services/kube-dns"
      const before = { selector: { "k8s-app": "kube-dns" }, internalTrafficPolicy: "Cluster" }
      const metadata = { name: "kube-dns", namespace: "kube-system" }
      const spec = { ...before, ports: [{ name: "dns", protocol: "UDP", port: 53 }] }
      const service = { apiVersion: "v1", kind: "Service", metadata, spec }
      await done(kubectl(["create", "-f", "-"], { input: JSON.stringify(service) }))
      const [there = "", back = "", ...more] = commands(/patch service kube-dns/)
      expect(more).toEqual([])
      const now = async () => {
        const found = at(await client.get(path), "spec")
        return { selector: at(found, "selector"), internalTrafficPolicy: at(found, "internalTrafficPolicy") }
      }
      shell(there)
      const labels = at(
        await client.get("/apis/apps/v1/namespaces/kube-system/daemonsets/servicegroup-coredns"),
        "spec",
        "template",
        "metadata",
        "labels"
      )
      expect(await now()).toEqual({ selector: labels, internalTrafficPolicy: "Local" })
      shell(back)
      expect(await now()).toEqual(before)
    }
  )

  clusterTest(
    "has a README whose commands lead NodeLocal DNSCache to the file, and its Corefile back",
    async () => {
      const { client, kubectl } = plane()
      const objects = JSON.stringify({ apiVersion: "v1", kind: "List", items: nodeLocal() })
      await done(kubectl(["create", "-f", "-"], { input: objects }))
      const [there = "", back = ""] = commands(/node-local-dns-before[.]yaml/)
      const [mount = ""] = commands(/patch daemonset node-local-dns/)
      const now = async () =>
        at(await client.get("/api/v1/namespaces/kube-system/configmaps/node-local-dns"), "data", "Corefile")
      shell(there)
      const stanza = [
        "    hosts /etc/servicegroup/dns/hosts cluster.local {",
        "        ttl 5",
        "        reload 2s",
        "        no_reverse",
        "        fallthrough",
        "    }\n"
      ].join("\n")
      const [first = "", ...rest] = NODE_LOCAL.split("\n")
      expect(await now()).toBe(`${first}\n${stanza}${rest.join("\n")}`)
      shell(mount)
      const template = at(
        await client.get("/apis/apps/v1/namespaces/kube-system/daemonsets/node-local-dns"),
        "spec",
        "template",
        "spec"
      )
      expect(at(template, "containers", 0, "volumeMounts")).toContainEqual({
        name: "servicegroup-dns",
        mountPath: "/etc/servicegroup/dns",
        readOnly: true
      })
      expect(at(template, "volumes")).toContainEqual({
        name: "servicegroup-dns",
        hostPath: { path: "/etc/servicegroup/dns", type: "DirectoryOrCreate" }
      })
      shell(back)
      expect(await now()).toBe(NODE_LOCAL)
    }
  )
})

/** A grid's set in beijing, as the controller makes it, and the slice of its headless Service. */
const web = async () => {
  const { client } = plane()
  const template = {
    metadata: { labels: { app: "web" } },
    spec: { containers: [{ name: "c", image: "web:1" }] }
  }
  const spec = { serviceName: "web-svc", selector: { matchLabels: { app: "web" } }, template }
  const grid = await client.create("/apis/superedge.io/v1/namespaces/default/statefulsetgrids", {
    apiVersion: "superedge.io/v1",
    kind: "StatefulSetGrid",
    metadata: { name: "web" },
    spec: { gridUniqKey: "zone", template: spec }
  })
  const owner = {
    apiVersion: "superedge.io/v1",
    kind: "StatefulSetGrid",
    name: "web",
    uid: at(grid, "metadata", "uid"),
    controller: true
  }
  const set = {
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: {
      name: "web-beijing",
      namespace: "default",
      labels: { "superedge.io/grid-selector": "web" },
      annotations: { "superedge.io/grid-key": "zone", "superedge.io/unit": "beijing" },
      ownerReferences: [owner]
    },
    spec
  }
  const labels = { "kubernetes.io/service-name": "web-svc", "service.kubernetes.io/headless": "" }
  const slice = {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: { name: "web-svc-x", namespace: "default", labels },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.1.0.5"], hostname: "web-beijing-0", conditions: { ready: true } }],
    ports: []
  }
  return { apiVersion: "v1", kind: "List", items: [set, slice] }
}

/** As the addon has it, without its blocks for other zones. */
const NODE_LOCAL = `cluster.local:53 {
    errors
    cache {
            success 9984 30
            denial 9984 5
    }
    reload
    loop
    bind 169.254.20.10
    forward . __PILLAR__CLUSTER__DNS__ {
            force_tcp
    }
    prometheus :9253
    health 169.254.20.10:8080
    }
.:53 {
    errors
    cache 30
    reload
    loop
    bind 169.254.20.10
    forward . __PILLAR__UPSTREAM__SERVERS__
    prometheus :9253
    }
`

const nodeLocal = (): readonly object[] => {
  const metadata = { name: "node-local-dns", namespace: "kube-system" }
  const labels = { "k8s-app": "node-local-dns" }
  const config = { name: "config-volume", mountPath: "/etc/coredns" }
  const spec = {
    containers: [{ name: "node-cache", image: "node-cache:1", volumeMounts: [config] }],
    volumes: [{ name: "config-volume", configMap: { name: "node-local-dns" } }]
  }
  return [
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { Corefile: NODE_LOCAL } },
    {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata,
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } }
    }
  ]
}

/** The README's commands of which something is said, in order. A line that ends with | goes on in the next one. */
const commands = (about: RegExp): readonly string[] =>
  readFileSync(join(FOLDER, "README.md"), "utf8")
    .replaceAll(/[|]\n\s+/g, "| ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => /^(?:kubectl|sed) /.test(line) && about.test(line))

/** Runs a line as a person would, with the cluster's kubectl. */
const shell = (line: string): void => {
  const found = binaries(CONTROL_PLANE)
  if (found._tag === "Missing") throw new Error(found.reason)
  const PATH = [found.folder, process.env["PATH"] ?? ""].join(delimiter)
  const { folder, kubeconfig } = plane()
  execFileSync("/bin/sh", ["-ec", line], {
    cwd: folder,
    env: { PATH, HOME: folder, KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "pipe"]
  })
}
