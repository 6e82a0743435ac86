/**
 * Label selectors (`metav1.LabelSelector`), as a workload selects its pods.
 */
import { asText, isObject } from "./json.ts"
import type { LabelSelector, StringMap } from "./kube.ts"

/**
 * Whether a selector selects labels: all of matchLabels, and all of matchExpressions (In, NotIn, Exists,
 * DoesNotExist; an unknown operator selects nothing, nor does what is no requirement). A selector with neither selects nothing: no workload may select all pods.
 */
export const selects = (selector: LabelSelector, labels: StringMap): boolean => {
  const value = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  const wanted = Object.entries(selector.matchLabels ?? {})
  const expressions: unknown = selector.matchExpressions ?? []
  if (!Array.isArray(expressions) || wanted.length + expressions.length === 0) return false
  return (
    wanted.every(([key, text]) => value(key) === text) &&
    expressions.every((each: unknown) => isObject(each) && holds(each, value(asText(each["key"]))))
  )
}

/** Whether a requirement holds for what a label says, where it is there. */
const holds = (
  { operator, values }: { readonly [field: string]: unknown },
  found: string | undefined
): boolean => {
  const listed = found !== undefined && Array.isArray(values) && values.includes(found)
  switch (operator) {
    case "In":
      return listed
    case "NotIn":
      return !listed
    case "Exists":
      return found !== undefined
    case "DoesNotExist":
      return found === undefined
    default:
      return false
  }
}
