/**
 * Records how a real API server answers, story by story: what the embedded cluster is written from and tested with.
 *
 * Run by hand against a server without controllers (etcd and kube-apiserver alone), whose namespace `recorded` is
 * nobody else's:
 *   node property-tests/recorded/record.ts --kubeconfig PATH --out property-tests/recorded/answers.json
 *
 * The file holds `{server, stories: [{name, shows, exchanges: [{shows?, request, response}]}]}`, one line an exchange.
 * Before each story the namespace `recorded` and the ServiceAccount `default` in it exist, the CRDs of
 * manifests/crds are applied, and nothing else is in the namespace. For the placeholders see exchange.ts.
 */
import { readFileSync, readdirSync, writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { parse } from "yaml"
import {
  type Answer,
  type Call,
  type Credentials,
  type Exchange,
  type Send,
  sender,
  settled
} from "./exchange.ts"
import { stories, type Story } from "./stories.ts"

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: Readonly<Record<string, string>> }]
  readonly users: readonly [{ readonly user: Readonly<Record<string, string>> }]
}

const credentials = (path: string): Credentials => {
  const config = parse(readFileSync(path, "utf8")) as Kubeconfig
  const { cluster } = config.clusters[0]
  const { user } = config.users[0]
  const read = (from: Readonly<Record<string, string>>, name: string): Buffer => {
    const inline = from[`${name}-data`]
    return inline === undefined ? readFileSync(from[name] ?? "") : Buffer.from(inline, "base64")
  }
  return {
    server: cluster["server"] ?? "",
    ca: read(cluster, "certificate-authority"),
    cert: read(user, "client-certificate"),
    key: read(user, "client-key")
  }
}

const expectOk = (answer: Answer, what: string): Answer => {
  if (answer.code >= 300 && answer.code !== 404 && answer.code !== 409)
    throw new Error(`${what}: ${answer.code} ${JSON.stringify(answer.body)}`)
  return answer
}

const crdFolder = new URL("../../manifests/crds/", import.meta.url)

const prepare = async (send: Send): Promise<void> => {
  const post = async (path: string, body: unknown): Promise<void> => {
    expectOk(await send({ method: "POST", path, body }), path)
  }
  await post("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "recorded" } })
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } }
  await post("/api/v1/namespaces/recorded/serviceaccounts", account)
  for (const file of readdirSync(crdFolder)) {
    const crd = parse(readFileSync(new URL(file, crdFolder), "utf8")) as { kind: string }
    if (crd.kind === "CustomResourceDefinition")
      await post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd)
  }
}

const namespaced = [
  ...["configmaps", "secrets", "services", "pods", "events", "endpoints"].map((name) => `/api/v1/${name}`),
  ...["deployments", "statefulsets", "replicasets"].map((name) => `/apis/apps/v1/${name}`),
  ...["deploymentgrids", "statefulsetgrids", "servicegrids"].map((name) => `/apis/superedge.io/v1/${name}`),
  "/apis/discovery.k8s.io/v1/endpointslices",
  "/apis/coordination.k8s.io/v1/leases"
]
const clusterWide = ["/api/v1/nodes", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"]

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly finalizers?: readonly string[] }
  }[]
}

/** A CRD goes some time after it was deleted, when the server has removed its objects. */
const gone = async (send: Send, path: string): Promise<void> => {
  const deadline = Date.now() + 20_000
  while (Date.now() < deadline) {
    if ((await send({ method: "GET", path })).code === 404) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  throw new Error(`${path} was not gone within 20 s`)
}

/** Takes away what a story left: everything in the namespace, and what is called `recorded-...` outside. */
const clean = async (send: Send): Promise<void> => {
  const places = [
    ...namespaced.map((path) => path.replace(/\/([a-z]+)$/, "/namespaces/recorded/$1")),
    ...clusterWide
  ]
  for (const path of places) {
    const { items } = expectOk(await send({ method: "GET", path }), path).body as Listed
    for (const { metadata } of items) {
      const mine = !clusterWide.includes(path) || /(^|\.)recorded(\b|-)/.test(metadata.name)
      if (!mine) continue
      const one = `${path}/${metadata.name}`
      await send({
        method: "DELETE",
        path: one,
        body: { propagationPolicy: "Background", gracePeriodSeconds: 0 }
      })
      if (path.endsWith("customresourcedefinitions")) await gone(send, one)
      else if ((metadata.finalizers ?? []).length > 0)
        await send({
          method: "PATCH",
          path: one,
          contentType: "application/merge-patch+json",
          body: { metadata: { finalizers: null } }
        })
    }
  }
}

const tell = async (story: Story, send: Send): Promise<readonly Exchange[]> => {
  const exchanges: Exchange[] = []
  await story.run({
    aside: send,
    send: async (call: Call, shows?: string, trimmed?: (body: unknown) => unknown) => {
      const answer = await send(call)
      const response = trimmed === undefined ? answer : { ...answer, body: trimmed(answer.body) }
      exchanges.push({ ...(shows === undefined ? {} : { shows }), request: call, response })
      return answer
    }
  })
  return settled(exchanges)
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: { kubeconfig: { type: "string" }, out: { type: "string" }, only: { type: "string" } }
  })
  if (values.kubeconfig === undefined || values.out === undefined)
    throw new Error("usage: record.ts --kubeconfig PATH --out FILE [--only STORY]")
  const send = sender(credentials(values.kubeconfig))
  await prepare(send)
  const version = (await send({ method: "GET", path: "/version" })).body as { gitVersion: string }
  const told: string[] = []
  for (const story of stories) {
    if (values.only !== undefined && story.name !== values.only) continue
    await clean(send)
    const lines = (await tell(story, send)).map((exchange) => JSON.stringify(exchange))
    const head = `"name":${JSON.stringify(story.name)},"shows":${JSON.stringify(story.shows)}`
    told.push(`{${head},"exchanges":[\n${lines.join(",\n")}\n]}`)
    process.stdout.write(`${story.name}: ${lines.length}\n`)
  }
  await clean(send)
  writeFileSync(
    values.out,
    `{"server":${JSON.stringify(version.gitVersion)},"stories":[\n${told.join(",\n")}\n]}\n`
  )
  process.exit(0)
}

await main()
