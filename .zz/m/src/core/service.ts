/**
 * (service grid) -> the Service wanted.
 *
 * One Service over all units; the annotation `topologyKeys` is what keeps its traffic inside a unit.
 */
import { duplicates } from "./items.ts"
import {
  childLabels,
  GRID,
  GRID_KEY,
  gridKey,
  isLabelKey,
  namesService,
  ownerReference,
  type Refusal,
  type ServiceGrid,
  serviceName,
  TOPOLOGY_KEYS,
  UNIT,
  withoutTools
} from "./grid.ts"
import { isObject } from "./json.ts"
import type { Service, ServiceSpec, StringMap } from "./kube.ts"
import { stated } from "./stated.ts"

export interface Services {
  readonly wanted: readonly Service[]
  readonly refused: readonly Refusal[]
}

/** The topology keys of a grid: `spec.topologyKeys` where given, else the grid key alone. */
const topologyKeys = (grid: ServiceGrid, key: string): readonly string[] | Refusal => {
  const given: unknown = grid.spec.topologyKeys
  if (given === null || given === undefined) return [key]
  const refused = (message: string): Refusal => ({
    reason: "InvalidTopologyKeys",
    path: "spec.topologyKeys",
    message: `spec.topologyKeys: ${JSON.stringify(given)} ${message}`
  })
  if (!Array.isArray(given) || given.length === 0)
    return refused("is no list of label keys; leave it out, or list label keys with the grid key among them")
  const keys: readonly unknown[] = given
  const last = keys.length - 1
  const wrong = keys.findIndex(
    (each, i) => typeof each !== "string" || !(isLabelKey(each) || (each === "*" && i === last))
  )
  if (wrong !== -1)
    return refused(`has ${JSON.stringify(keys[wrong])}, which is no label key ("*" may stand last)`)
  if (new Set(keys).size !== keys.length) return refused("has a key twice")
  if (!keys.includes(key)) return refused(`does not contain the grid key "${key}"`)
  return keys as readonly string[]
}

/** The grid's annotations without the tools' ones, and without the mark of a unit's child, which a Service never is. */
const ownAnnotations = (grid: ServiceGrid): StringMap =>
  Object.fromEntries(
    Object.entries(withoutTools(grid.metadata.annotations)).filter(([name]) => name !== UNIT)
  )

const refuse = (refusal: Refusal): Services => ({ wanted: [], refused: [refusal] })

/**
 * The Service of a ServiceGrid, `<grid>-svc`: its template, the grid as controller owner, the grid's labels and
 * annotations without those of deployment tools, and the annotation `topologyKeys`. Depends on the grid alone: it is there also
 * where no node has the key. Never throws on a stored object, never writes to its argument.
 */
export const service = (grid: ServiceGrid): Services => {
  const key = gridKey(grid)
  if (typeof key !== "string") return refuse(key)
  const name = grid.metadata.name
  if (!namesService(name))
    return refuse({
      reason: "InvalidName",
      path: "metadata.name",
      message: `metadata.name: "${name}-svc" is no Service name; use at most 59 lower-case letters, digits and "-", starting with a letter`
    })
  const keys = topologyKeys(grid, key)
  if (!Array.isArray(keys)) return refuse(keys as Refusal)
  if (!isObject(grid.spec.template))
    return refuse({
      reason: "TemplateMissing",
      path: "spec.template",
      message: "spec.template: is missing; a ServiceGrid needs a Service spec"
    })
  const spec = stated("Service", grid.spec.template) as ServiceSpec
  const twice = duplicates("Service", { spec })[0]
  if (twice !== undefined) {
    const path = `spec.template.${twice.path.replace(/^spec\./, "")}`
    return refuse({
      reason: "DuplicateKey",
      path,
      message: `${path}: has ${twice.key} twice; server-side apply takes each key once`
    })
  }
  return {
    wanted: [
      {
        apiVersion: "v1",
        kind: "Service",
        metadata: {
          name: serviceName(grid),
          ...(typeof grid.metadata.namespace === "string" ? { namespace: grid.metadata.namespace } : {}),
          labels: childLabels(grid, key),
          annotations: {
            ...ownAnnotations(grid),
            [GRID]: name,
            [GRID_KEY]: key,
            [TOPOLOGY_KEYS]: JSON.stringify(keys)
          },
          ownerReferences: [ownerReference(grid)]
        },
        spec
      }
    ],
    refused: []
  }
}
