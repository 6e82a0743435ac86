/**
 * What the API server never changes once a child exists.
 */
import { hash } from "./hash.ts"
import { type ChildKind, type Manageable, type Shape, shapeOf, shapes } from "./schema.ts"
import { own, spelling } from "./value.ts"

const fixed: { readonly [kind in ChildKind]: readonly string[] } = {
  Deployment: ["selector"],
  StatefulSet: ["selector", "serviceName", "volumeClaimTemplates", "podManagementPolicy"],
  Service: []
}

/** Path of a field that the API server never changes -> digest of its value, after the server's defaults. */
export type Immutable = { readonly [path: string]: string }

/**
 * The immutable fields of a wanted object, to be compared with those of the live one, so that a plan names the field instead of sending
 * a request that can't succeed. Of a Service only whether it is headless is told: the server drops that change silently; what else
 * it never changes there, it says itself.
 */
export const immutable = (kind: ChildKind, object: Manageable): Immutable => {
  if (kind === "Service")
    return { "spec.clusterIP": own(object.spec, "clusterIP") === "None" ? "headless" : "not headless" }
  const spec = shapeOf(shapes[kind], "spec")
  return Object.fromEntries(
    fixed[kind].map((field) => [
      `spec.${field}`,
      hash(fixedSpelling(field, own(object.spec, field), shapeOf(spec, field)))
    ])
  )
}

const fixedSpelling = (field: string, value: unknown, shape: Shape): string => {
  const text = spelling(value, shape)
  return field === "podManagementPolicy" && text === "" ? "OrderedReady" : text
}
