/**
 * Label selectors (`metav1.LabelSelector`), as a workload selects its pods.
 */
import type { LabelSelector, StringMap } from "./kube.ts"

/**
 * Whether a selector selects labels: all of matchLabels, and all of matchExpressions (In, NotIn, Exists,
 * DoesNotExist; an unknown operator selects nothing). A selector with neither selects nothing: no workload may select all pods.
 */
export const selects = (selector: LabelSelector, labels: StringMap): boolean => {
  const value = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined)
  const wanted = Object.entries(selector.matchLabels ?? {})
  const expressions = selector.matchExpressions ?? []
  if (wanted.length + expressions.length === 0) return false
  return (
    wanted.every(([key, text]) => value(key) === text) &&
    expressions.every(({ key, operator, values }) => {
      const found = value(key)
      const listed = found !== undefined && (values ?? []).includes(found)
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
    })
  )
}
