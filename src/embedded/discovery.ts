/**
 * What a client may ask to learn what is served: versions, groups and kinds.
 */
import type { Cluster, Resource } from "./cluster.ts"
import { resources } from "./model.ts"
import { openapi } from "./openapi.ts"

export interface Document {
  readonly contentType: string
  readonly body: unknown
}

/** The document at a path; undefined where there is none. */
export const document = (
  cluster: Cluster,
  path: string,
  accept: string | undefined
): Document | undefined => {
  const plain = path.length > 1 ? path.replace(/\/$/, "") : path
  const aggregated = aggregatedForm(accept)
  if ((plain === "/api" || plain === "/apis") && aggregated !== undefined) {
    return { contentType: aggregated, body: groupDiscovery(cluster, plain === "/api") }
  }
  // an empty message is a document without any kind: all that is asked of it is what isn't in version 3
  if (plain === "/openapi/v2" && accept?.includes(SWAGGER) === true)
    return { contentType: SWAGGER.replace("@", "."), body: "" }
  const body = bodyOf(cluster, plain)
  return body === undefined ? undefined : { contentType: "application/json", body }
}

const bodyOf = (cluster: Cluster, path: string): unknown => {
  if (path === "/") return { paths: pathsOf(cluster) }
  if (path === "/version") return VERSION
  if (path === "/api") {
    return {
      kind: "APIVersions",
      versions: ["v1"],
      serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: "127.0.0.1" }]
    }
  }
  if (path === "/apis")
    return { kind: "APIGroupList", apiVersion: "v1", groups: groupsOf(cluster).map(groupOf) }
  if (path === "/openapi/v3") return { paths: Object.fromEntries(groupVersions(cluster).map(openapiEntry)) }
  const place = /^\/openapi\/v3\/(?<place>.+)$/.exec(path)?.groups?.["place"]
  if (place !== undefined) {
    const [root, first = "", second = ""] = place.split("/")
    const all = root === "api" ? servedIn(cluster, "", first) : servedIn(cluster, first, second)
    return openapi(place, all, VERSION.gitVersion)
  }
  const [, root, group = "", version] = path.split("/")
  if (root === "api" && group !== "" && version === undefined) return resourceList(cluster, "", group)
  if (root !== "apis" || path.split("/").length > 4) return undefined
  if (version !== undefined) return resourceList(cluster, group, version)
  const found = groupsOf(cluster).find((each) => each.name === group)
  return found === undefined ? undefined : { kind: "APIGroup", apiVersion: "v1", ...groupOf(found) }
}

interface Group {
  readonly name: string
  readonly versions: readonly string[]
}

/** Groups in the order in which they are served, without the core group. */
const groupsOf = (cluster: Cluster): readonly Group[] => {
  const groups = new Map<string, Set<string>>()
  for (const { group, version } of resources(cluster)) {
    if (group === "") continue
    groups.set(group, (groups.get(group) ?? new Set()).add(version))
  }
  return [...groups].map(([name, versions]) => ({ name, versions: [...versions] }))
}

const groupOf = ({ name, versions }: Group): object => {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: all, preferredVersion: all[0] }
}

const servedIn = (cluster: Cluster, group: string, version: string): readonly Resource[] =>
  resources(cluster).filter((each) => each.group === group && each.version === version)

const resourceList = (cluster: Cluster, group: string, version: string): unknown => {
  const all = servedIn(cluster, group, version)
  if (all.length === 0) return undefined
  return {
    kind: "APIResourceList",
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: group === "" ? version : `${group}/${version}`,
    resources: all.flatMap((each) => [
      {
        name: each.plural,
        singularName: each.singular,
        namespaced: each.namespaced,
        kind: each.kind,
        verbs: verbsOf(each),
        ...named(each)
      },
      ...subresources(each).map(({ name, kind, verbs }) => ({
        name: `${each.plural}/${name}`,
        singularName: "",
        namespaced: each.namespaced,
        ...(kind.group === undefined ? {} : { group: kind.group, version: kind.version }),
        kind: kind.kind,
        verbs
      }))
    ])
  }
}

/** The aggregated form (KEP-3352): all groups, versions and kinds in one answer. */
const groupDiscovery = (cluster: Cluster, core: boolean): object => ({
  kind: "APIGroupDiscoveryList",
  apiVersion: "apidiscovery.k8s.io/v2",
  metadata: {},
  items: (core ? [{ name: "", versions: ["v1"] }] : groupsOf(cluster)).map(({ name, versions }) => ({
    metadata: name === "" ? {} : { name },
    versions: versions.map((version) => ({
      version,
      resources: servedIn(cluster, name, version).map(discovered),
      freshness: "Current"
    }))
  }))
})

const discovered = (each: Resource): object => {
  const responseKind = {
    group: each.custom ? each.group : "",
    version: each.custom ? each.version : "",
    kind: each.kind
  }
  const below = subresources(each).map(({ name, kind, verbs }) => ({
    subresource: name,
    responseKind: kind.group === undefined ? { ...responseKind, kind: kind.kind } : kind,
    verbs
  }))
  return {
    resource: each.plural,
    responseKind,
    scope: each.namespaced ? "Namespaced" : "Cluster",
    singularResource: each.singular,
    verbs: verbsOf(each),
    ...named(each),
    ...(below.length > 0 ? { subresources: below } : {})
  }
}

const named = ({ shortNames, categories }: Resource): object => ({
  ...(shortNames.length > 0 ? { shortNames } : {}),
  ...(categories.length > 0 ? { categories } : {})
})

interface Subresource {
  readonly name: string
  readonly kind: { readonly group?: string; readonly version?: string; readonly kind: string }
  readonly verbs: readonly string[]
}

const subresources = ({ kind, group, plural, status, scale }: Resource): readonly Subresource[] => [
  ...(group === "" && plural === "pods"
    ? [{ name: "binding", kind: { kind: "Binding" }, verbs: ["create"] }]
    : []),
  ...(scale
    ? [{ name: "scale", kind: { group: "autoscaling", version: "v1", kind: "Scale" }, verbs: CHANGES }]
    : []),
  ...(status ? [{ name: "status", kind: { kind }, verbs: CHANGES }] : [])
]

const openapiEntry = (place: string): readonly [string, object] => [
  place,
  { serverRelativeURL: `/openapi/v3/${place}` }
]

const groupVersions = (cluster: Cluster): readonly string[] => [
  "api/v1",
  ...groupsOf(cluster).flatMap(({ name, versions }) => versions.map((version) => `apis/${name}/${version}`))
]

const SWAGGER = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

const pathsOf = (cluster: Cluster): readonly string[] => [
  "/api",
  "/api/v1",
  "/apis",
  ...groupsOf(cluster).flatMap(({ name, versions }) => [
    `/apis/${name}`,
    ...versions.map((version) => `/apis/${name}/${version}`)
  ]),
  "/healthz",
  "/livez",
  "/openapi/v2",
  "/openapi/v3",
  "/readyz",
  "/version"
]

const aggregatedForm = (accept: string | undefined): string | undefined => {
  const wanted = (accept ?? "")
    .split(",")
    .map((each) => each.trim())
    .find(
      (each) =>
        each.includes("as=APIGroupDiscoveryList") && each.includes("v=v2") && !each.includes("v=v2beta1")
    )
  return wanted === undefined
    ? undefined
    : "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
}

const verbsOf = ({ custom, group, plural }: Resource): readonly string[] => {
  if (custom) return ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
  return group === "" && plural === "namespaces" ? VERBS.filter((verb) => verb !== "deletecollection") : VERBS
}

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]

const CHANGES = ["get", "patch", "update"]

const VERSION = {
  major: "1",
  minor: "37",
  emulationMajor: "1",
  emulationMinor: "37",
  minCompatibilityMajor: "1",
  minCompatibilityMinor: "36",
  gitVersion: "v1.37.2+embedded",
  gitCommit: "",
  gitTreeState: "",
  buildDate: "1970-01-01T00:00:00Z",
  goVersion: "",
  compiler: "",
  platform: "linux/amd64"
}
