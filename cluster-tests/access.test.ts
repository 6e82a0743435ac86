/**
 * RBAC: what the ClusterRole and the Role of the manifests say of grids is exactly what the controller does for them (for sites: see
 * access-sites.test.ts). A tour makes it do everything that it ever does; with all verbs nothing is refused, and with any one of them removed the
 * server refuses just that.
 *
 * On a control plane of its own with OwnerReferencesPermissionEnforcement, where nobody else looks after the grids: each tour has a namespace, an
 * account, a role and a controller without sites, since all tours have the same nodes.
 */
import { describe, expect } from "vitest"
import { account, type Roles, type Rule } from "./accounts.ts"
import { heard, type Heard, isWrite } from "./audit.ts"
import { at } from "./client.ts"
import { type Controller, controller, deployed } from "./controller.ts"
import { until } from "./deadline.ts"
import { node } from "./nodes.ts"
import { ownPlane } from "./own-plane.ts"
import { GRID_ROLES } from "./rules.ts"
import { clusterTest } from "./skip.ts"
import { deployment, statefulSet } from "./specs.ts"

/** The Lease that the manifest's Role names. */
const LEASE = "servicegroup-controller"

const plane = ownPlane(
  { controllers: "none", admission: ["OwnerReferencesPermissionEnforcement"] },
  async (begun) => {
    await deployed(begun)
    await node(begun.client, "a-1", { tour: "a" })
  }
)

describe.concurrent("the controller's roles", () => {
  clusterTest(
    "with all their verbs are refused nothing, in anything that the controller ever does",
    async () => {
      await using tour = await Tour.begin("whole", GRID_ROLES, ["--lease", `whole/${LEASE}`])
      await tour.ends()
      await tour.renewsItsLease()
      expect(tour.refusals()).toEqual([])
    }
  )

  const without = (removed: Rule): Roles => ({
    cluster: GRID_ROLES.cluster.filter((other) => other !== removed),
    own: GRID_ROLES.own.filter((other) => other !== removed)
  })
  for (const [index, rule] of [...GRID_ROLES.cluster, ...GRID_ROLES.own].entries()) {
    const [verb = "", resource = ""] = [...rule.verbs, ...rule.resources]
    clusterTest(`have no superfluous verb: ${verb} ${resource}`, async () => {
      const namespace = `without-${index}`
      await using tour = await Tour.begin(namespace, without(rule), ["--lease", `${namespace}/${LEASE}`])
      const expected = resource.endsWith("/finalizers")
        ? "cannot set blockOwnerDeletion"
        : `cannot ${verb} resource "${resource}"`
      const about = resource.endsWith("/finalizers") ? (FINALIZERS_OF[resource] ?? "") : ""
      await until({ what: `a refusal: ${expected} ${about}`, seconds: 45 }, () => {
        const found = tour.refusals()
        if (found.some((each) => each.message.includes(expected) && each.resource.includes(about)))
          return true
        throw new Error(`refused so far: ${found.map((each) => each.message).join("; ") || "nothing"}`)
      })
    })
  }
})

describe("a restart of the controller", () => {
  clusterTest("writes nothing to what is settled", async () => {
    await using tour = await Tour.begin("again", GRID_ROLES, [])
    await tour.ends()
    await tour.restart()
    const before = tour.writes().length
    // what comes after the first pass over everything is told apart by a child that only then is wanted
    await tour.create("superedge.io/v1", "deploymentgrids", "DeploymentGrid", {
      metadata: { name: "late" },
      spec: { gridUniqKey: "tour", template: deployment() }
    })
    await until({ what: "the late grid's child", seconds: 30 }, async () =>
      tour.find("deployments", "late-a")
    )
    const later = tour
      .writes()
      .slice(before)
      .filter((each) => each.code < 300 && each.resource !== "events" && !each.name.startsWith("late"))
    expect(later.map((each) => `${each.verb} ${each.resource} ${each.name}`)).toEqual([])
  })
})

/** Whose children's owner references each of the finalizers' rules is about. */
const FINALIZERS_OF: Readonly<Record<string, string>> = {
  "deploymentgrids/finalizers": "deployments",
  "statefulsetgrids/finalizers": "statefulsets",
  "servicegrids/finalizers": "services"
}

/** One namespace in which a controller has to do everything once. */
class Tour {
  readonly #namespace: string
  #controller: Controller

  private constructor(namespace: string, running: Controller) {
    this.#namespace = namespace
    this.#controller = running
  }

  /** `flags`: what the controller is told besides */
  static async begin(namespace: string, roles: Roles, flags: readonly string[]): Promise<Tour> {
    const metadata = { name: namespace }
    await plane().client.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata })
    const entitled = await account(plane().client, namespace, "controller", roles)
    await furnished(namespace)
    const own = ["--namespace", namespace, "--unit-grace", "0s", "--sites", "off"]
    return new Tour(namespace, await controller(plane(), entitled, [...own, ...flags]))
  }

  async restart(): Promise<void> {
    await this.#controller.kill()
    this.#controller = this.#controller.again()
    await this.#controller.ready()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#controller.kill()
  }

  create(version: string, resource: string, kind: string, object: object): Promise<unknown> {
    return created(this.#namespace, version, resource, kind, object)
  }

  find(resource: string, name: string): Promise<unknown> {
    return plane().client.find(path(this.#namespace, "apps/v1", resource, name))
  }

  requests(): readonly Heard[] {
    return heard(plane().audit, `${this.#namespace}:controller`, `:${this.#namespace}:controller`)
  }

  writes(): readonly Heard[] {
    return this.requests().filter(isWrite)
  }

  refusals(): readonly Heard[] {
    return this.requests().filter((each) => each.code === 403)
  }

  async renewsItsLease(): Promise<void> {
    await until({ what: "a renewal of the Lease", seconds: 30 }, () => {
      const written = this.writes().filter((each) => each.resource === "leases")
      return written.map((each) => each.code).includes(200)
    })
  }

  /** Waits until all that the tour asks for is done. */
  async ends(): Promise<void> {
    const has = (verb: string, resource: string, name: RegExp): boolean =>
      this.requests().some(
        (each) => each.code < 300 && each.verb === verb && each.resource === resource && name.test(each.name)
      )
    const needed: readonly (readonly [verb: string, resource: string, name: RegExp])[] = [
      ["patch", "deployments", /^dg-a$/],
      ["patch", "statefulsets", /^ssg-a$/],
      ["patch", "services", /^sg-svc$/],
      ["delete", "deployments", /^dg-old$/],
      ["delete", "statefulsets", /^ssg-old$/],
      ["delete", "services", /^old-svc$/],
      ["get", "deployments", /^foreign-a$/],
      ["get", "statefulsets", /^foreign-a$/],
      ["get", "services", /^foreign-svc$/],
      ["patch", "deploymentgrids", /^dg$/],
      ["patch", "statefulsetgrids", /^ssg$/],
      ["patch", "deploymentgrids/status", /^dg$/],
      ["patch", "statefulsetgrids/status", /^ssg$/],
      ["patch", "servicegrids/status", /^sg$/],
      ["patch", "events", /^foreign/]
    ]
    await until({ what: "the end of the tour", seconds: 45 }, () => {
      const missing = needed.filter((each) => !has(...each)).map((each) => each.join(" "))
      if (missing.length === 0) return true
      throw new Error(`still to come: ${missing.join(", ")}`)
    })
  }
}

/**
 * Grids of each kind to serve, with a pool entry that nobody uses; a child of each that is wanted no more; and for each kind one grid whose
 * child's name a stranger has.
 */
const furnished = async (namespace: string): Promise<void> => {
  const make = (version: string, resource: string, kind: string, object: object): Promise<unknown> =>
    created(namespace, version, resource, kind, object)
  const workloads = [
    ["dg", "DeploymentGrid", "deploymentgrids", "Deployment", "deployments", deployment()],
    ["ssg", "StatefulSetGrid", "statefulsetgrids", "StatefulSet", "statefulsets", statefulSet()]
  ] as const
  for (const [name, kind, resource, childKind, children, template] of workloads) {
    const spec = { gridUniqKey: "tour", template }
    const pooled = { ...spec, templatePool: { unused: template }, autoDeleteUnusedTemplate: true }
    const grid = await make("superedge.io/v1", resource, kind, { metadata: { name }, spec: pooled })
    const old = { metadata: owned(`${name}-old`, kind, grid), spec: template }
    await make("apps/v1", children, childKind, old)
    await make("apps/v1", children, childKind, { metadata: { name: "foreign-a" }, spec: template })
    await make("superedge.io/v1", resource, kind, { metadata: { name: "foreign" }, spec })
  }
  const template = { ports: [{ port: 80 }], selector: { app: "echo" } }
  const spec = { gridUniqKey: "tour", template }
  const grid = await make("superedge.io/v1", "servicegrids", "ServiceGrid", {
    metadata: { name: "sg" },
    spec
  })
  await make("v1", "services", "Service", { metadata: owned("old-svc", "ServiceGrid", grid), spec: template })
  await make("v1", "services", "Service", { metadata: { name: "foreign-svc" }, spec: template })
  await make("superedge.io/v1", "servicegrids", "ServiceGrid", { metadata: { name: "foreign" }, spec })
}

const owned = (name: string, kind: string, grid: unknown): object => ({
  name,
  labels: {
    "superedge.io/grid-selector": at(grid, "metadata", "name"),
    "superedge.io/grid-uniq-key": "tour"
  },
  ownerReferences: [
    {
      apiVersion: "superedge.io/v1",
      kind,
      name: at(grid, "metadata", "name"),
      uid: at(grid, "metadata", "uid"),
      controller: true,
      blockOwnerDeletion: true
    }
  ]
})

const path = (namespace: string, version: string, resource: string, name?: string): string =>
  `${version === "v1" ? "/api/v1" : `/apis/${version}`}/namespaces/${namespace}/${resource}${name === undefined ? "" : `/${name}`}`

const created = (
  namespace: string,
  version: string,
  resource: string,
  kind: string,
  object: object
): Promise<unknown> =>
  plane().client.create(path(namespace, version, resource), { apiVersion: version, kind, ...object })
