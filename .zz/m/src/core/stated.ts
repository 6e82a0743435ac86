/**
 * What a template says, without what it leaves to the server.
 */
import { type ChildKind, type Shape, shapeOf, shapes } from "./schema.ts"

/**
 * Fields in which an empty string, a zero or an empty list leaves the choice to the server, which then fills in
 * its own: to send such a value is to own a field and never to find in it what was sent.
 */
const serversChoice: ReadonlySet<string> = new Set(
  (
    "type podManagementPolicy whenDeleted whenScaled dnsPolicy restartPolicy schedulerName imagePullPolicy " +
    "terminationMessagePath terminationMessagePolicy protocol timeoutSeconds periodSeconds successThreshold " +
    "failureThreshold path scheme pullPolicy iscsiInterface pool user keyring storageMode fsType " +
    "serviceAccount serviceAccountName sessionAffinity targetPort externalTrafficPolicy clusterIP clusterIPs " +
    "ipFamilies nodePort healthCheckNodePort"
  ).split(" ")
)

/**
 * A spec without what says nothing: nulls, and values that leave the choice to the server (`clusterIP: ""`, `nodePort: 0`). To send them would
 * be to own fields that never hold what was sent. Gives the argument itself where there is nothing to leave out.
 */
export const stated = (kind: ChildKind, spec: unknown): unknown =>
  statedAt(spec, shapeOf(shapes[kind], "spec"))

const statedAt = (value: unknown, shape: Shape): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => statedAt(item, shape))
    return items.some((item, i) => item !== value[i]) ? items : value
  }
  const fields = value as { readonly [field: string]: unknown }
  const kept = Object.keys(fields).flatMap((name) => {
    if (shape._tag !== "Whole" && shape.every === undefined && isServers(name, fields[name])) return []
    const inner = statedAt(fields[name], shapeOf(shape, name))
    return inner === null || inner === undefined ? [] : [[name, inner] as const]
  })
  const same =
    kept.length === Object.keys(fields).length && kept.every(([name, inner]) => inner === fields[name])
  return same ? value : Object.fromEntries(kept)
}

const isServers = (name: string, value: unknown): boolean =>
  serversChoice.has(name) && (value === "" || value === 0 || (Array.isArray(value) && value.length === 0))
