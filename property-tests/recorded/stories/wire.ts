/** What is asked around the objects: tables, discovery, other forms of answers, and requests that aren't understood. */
import * as given from "./given.ts"
import { apps, configMap, core, deployment, get, grids, merge, post, service } from "./given.ts"
import type { Answer, Call } from "../exchange.ts"
import type { Story } from "./given.ts"

const tableType = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"

interface Table {
  readonly columnDefinitions?: readonly { readonly description?: string }[] | null
}

/** Without the sentences that describe the columns. */
const terse = (body: unknown): unknown => {
  if (Array.isArray(body))
    return (body as { readonly object: unknown }[]).map((line) => ({ ...line, object: terse(line.object) }))
  const table = body as Table
  const columns = table.columnDefinitions
  if (!columns) return body
  return {
    ...table,
    columnDefinitions: columns.map((column) => ({ ...column, description: "<description>" }))
  }
}

const tables: Story = {
  name: "tables",
  shows: "what `kubectl get` asks for",
  run: async ({ send }) => {
    const table = (call: Call, shows: string): Promise<Answer> =>
      send({ ...call, accept: tableType }, shows, terse)
    const prepare = (call: Call): Promise<Answer> => send(call, "to prepare", () => "<left out>")
    const labels = { app: "web" }
    await prepare(post(apps("deployments"), deployment("web", { metadata: { labels } })))
    await prepare(post(apps("statefulsets"), given.statefulSet("set")))
    await prepare(
      post(
        core("services"),
        service("svc", {
          selector: labels,
          ports: [{ port: 80 }, { port: 53, protocol: "UDP", name: "b" }].map((port, i) => ({
            ...port,
            name: `p${i}`
          }))
        })
      )
    )
    await prepare(post(core("services"), service("ext", { type: "ExternalName", externalName: "x.example" })))
    await prepare(post(core("services"), service("node", { type: "NodePort", ports: [{ port: 80 }] })))
    const spec = { containers: [{ name: "main", image: "app:1" }], automountServiceAccountToken: false }
    await prepare(post(core("pods"), { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec }))
    await prepare(
      post("/api/v1/nodes", {
        apiVersion: "v1",
        kind: "Node",
        metadata: { name: "recorded-1", labels: { zone: "a" } }
      })
    )
    await prepare(post(core("configmaps"), configMap("m", { a: "1" })))
    await prepare(
      post(grids("deploymentgrids"), {
        apiVersion: "superedge.io/v1",
        kind: "DeploymentGrid",
        metadata: { name: "web" },
        spec: { gridUniqKey: "zone" }
      })
    )
    const start = given.versionOf(await prepare(get(grids("deploymentgrids"))))
    await table(get(apps("deployments")), "Deployments")
    await prepare(
      merge(apps("deployments", "web/status"), {
        status: { replicas: 1, readyReplicas: 1, updatedReplicas: 1, availableReplicas: 1 }
      })
    )
    await table(get(apps("deployments", "web")), "one Deployment, ready")
    await table(get(apps("statefulsets")), "StatefulSets")
    await table(get(apps("replicasets")), "no ReplicaSets")
    await table(get(core("services")), "Services")
    await table(get(core("pods")), "a pod that waits")
    await prepare(
      merge(core("pods", "p/status"), {
        status: {
          phase: "Running",
          podIP: "10.244.1.2",
          containerStatuses: [
            {
              name: "main",
              ready: true,
              restartCount: 0,
              image: "app:1",
              imageID: "",
              state: { running: {} }
            }
          ],
          conditions: [{ type: "Ready", status: "True" }]
        }
      })
    )
    await table(get(core("pods")), "a pod that runs")
    await table(get("/api/v1/nodes/recorded-1"), "a node")
    await prepare(
      merge("/api/v1/nodes/recorded-1/status", {
        status: { conditions: [{ type: "Ready", status: "True" }] }
      })
    )
    await prepare(merge("/api/v1/nodes/recorded-1", { spec: { unschedulable: true } }))
    await table(get("/api/v1/nodes/recorded-1"), "a node that is ready and cordoned")
    await table(get(core("configmaps")), "ConfigMaps")
    await table(get(core("events")), "no events")
    await table(get("/api/v1/namespaces/recorded"), "a namespace")
    await table(get(grids("deploymentgrids")), "grids: columns of the CRD")
    await table(get(grids("servicegrids")), "no ServiceGrids")
    await prepare(
      merge(grids("deploymentgrids", "web/status"), {
        status: {
          units: 2,
          readyUnits: 1,
          conditions: [
            {
              type: "Ready",
              status: "False",
              reason: "NotReady",
              message: "m",
              lastTransitionTime: "2020-01-01T00:00:00Z"
            }
          ]
        }
      })
    )
    await table(get(grids("deploymentgrids", "web")), "a grid with a status")
    await table(get(grids("deploymentgrids"), { includeObject: "None" }), "without objects")
    await table(get(grids("deploymentgrids"), { includeObject: "Object" }), "with whole objects")
    await table(get(grids("deploymentgrids", "none")), "absent: a Status")
    await table(
      get(grids("deploymentgrids"), { watch: "true", timeoutSeconds: "1", resourceVersion: start }),
      "a watch of tables: columns once"
    )
    await table(
      get(apps("deployments"), { watch: "true", timeoutSeconds: "1", resourceVersion: "0" }),
      "a watch of tables of a built-in kind"
    )
  }
}

interface Groups {
  readonly groups?: readonly { readonly name: string }[]
  readonly items?: readonly { readonly metadata: { readonly name: string } }[]
  readonly resources?: readonly { readonly name: string }[]
}

const served = /^(apps|superedge\.io|discovery\.k8s\.io)$/
const kinds =
  /^(configmaps|nodes|nodes\/status|pods|pods\/status|services|services\/status|events|namespaces|deployments|deployments\/(status|scale)|statefulsets)$/

/** Only some groups and kinds: there are too many. */
const fewer = (body: unknown): unknown => {
  const whole = body as Groups
  return {
    ...whole,
    ...(whole.groups === undefined ? {} : { groups: whole.groups.filter(({ name }) => served.test(name)) }),
    ...(whole.items === undefined
      ? {}
      : { items: whole.items.filter(({ metadata }) => served.test(metadata.name)) }),
    ...(whole.resources === undefined
      ? {}
      : { resources: whole.resources.filter(({ name }) => kinds.test(name)) })
  }
}

/** Of the aggregated groups only that of the grids. */
const gridGroup = (body: unknown): unknown => ({
  ...(body as Groups),
  items: (body as Groups).items?.filter(({ metadata }) => metadata.name === "superedge.io")
})

const discovery: Story = {
  name: "discovery",
  shows: "what clients ask before they ask for objects (only some groups and kinds are kept)",
  run: async ({ send }) => {
    const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
    await send(get("/api"), "core versions")
    await send(get("/apis"), "groups", fewer)
    await send(get("/api/v1"), "core kinds", fewer)
    await send(get("/apis/apps"), "a group")
    await send(get("/apis/apps/v1"), "its kinds", fewer)
    await send(get("/apis/superedge.io"), "the group of the grids")
    await send(get("/apis/superedge.io/v1"), "the grids")
    await send(get("/apis/absent.example"), "no such group")
    await send(get("/apis/apps/v9"), "no such version")
    await send({ ...get("/apis"), accept: aggregated }, "groups with their kinds in one answer", gridGroup)
    await send(get("/version"), "version")
    await send(get("/livez"), "alive")
    await send(get("/readyz"), "ready")
    await send(get("/nothing"), "no such path")
    await send(get("/api/v1/namespaces/recorded/nothings"), "no such kind")
    await send(get("/apis/superedge.io/v1/namespaces/recorded/nothings"), "no such custom kind")
    await send(get("/api/v1/namespaces/recorded/configmaps/a/nothing"), "no such subresource")
  }
}

const negotiation: Story = {
  name: "negotiation",
  shows: "other forms of answers, and requests that aren't understood",
  run: async ({ send }) => {
    const maps = core("configmaps")
    await send(post(maps, configMap("a", { k: "1" }, { labels: { l: "1" } })))
    const only = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    const list = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    await send({ ...get(core("configmaps", "a")), accept: only }, "metadata alone")
    await send({ ...get(maps), accept: list }, "a list of metadata")
    await send(
      { ...get(maps, { watch: "true", timeoutSeconds: "1", resourceVersion: "0" }), accept: only },
      "a watch of metadata"
    )
    await send({ ...get(maps), accept: "*/*" }, "anything")
    await send({ ...get(maps), accept: "text/html" }, "HTML")
    await send({ ...get(maps), accept: "application/xml,application/json" }, "XML, else JSON")
    await send(
      { ...get(grids("deploymentgrids")), accept: "application/vnd.kubernetes.protobuf,application/json" },
      "protobuf, else JSON, of a custom kind"
    )
    await send(
      {
        ...post(maps, undefined),
        text: "kind: ConfigMap\napiVersion: v1\nmetadata: {name: yy}\n",
        contentType: "application/yaml"
      },
      "YAML sent"
    )
    await send({ ...post(maps, undefined), text: "x", contentType: "text/plain" }, "text sent")
    await send(
      { ...post(maps, undefined), text: "{broken", contentType: "application/json" },
      "malformed JSON"
    )
    await send({ ...post(maps, undefined), text: "", contentType: "application/json" }, "nothing sent")
    await send({ ...post(maps, undefined), text: "[]", contentType: "application/json" }, "a list sent")
    await send(
      { ...merge(core("configmaps", "a"), {}), contentType: "application/json" },
      "a patch as plain JSON"
    )
    await send({ ...merge(core("configmaps", "a"), undefined), text: "{broken" }, "a malformed merge patch")
    await send(
      { ...merge(core("configmaps", "a"), {}), query: { force: "true" } },
      "force with a merge patch"
    )
    await send({ method: "PUT", path: maps, body: {} }, "PUT to a collection")
    await send(
      { method: "POST", path: core("configmaps", "a"), body: configMap("a", {}) },
      "POST to an object"
    )
    await send(
      { method: "PATCH", path: maps, body: {}, contentType: "application/merge-patch+json" },
      "PATCH to a collection"
    )
    await send({ method: "DELETE", path: "/api/v1/nodes/absent" }, "an absent node")
    await send({ method: "POST", path: "/api/v1/configmaps", body: configMap("x", {}) }, "POST cluster-wide")
    await send(
      { ...post(maps, configMap("x", {})), query: { fieldValidation: "Odd" } },
      "a strange fieldValidation"
    )
    await send({ ...post(maps, configMap("x", {})), query: { dryRun: "Some" } }, "a strange dryRun")
    await send(
      { ...post(maps, configMap("x", {})), query: { fieldManager: "x".repeat(129) } },
      "too long a manager"
    )
    await send({ ...get(maps, { pretty: "true", limit: "1" }) }, "pretty")
  }
}

export const wire: readonly Story[] = [tables, discovery, negotiation]
