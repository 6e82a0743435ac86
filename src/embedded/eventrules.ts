/**
 * The rules of Events, in the server's words: those of the core group, and the stricter ones of events.k8s.io, which speak
 * of core's fields all the same.
 */
import { get, same, text, type Obj } from "./json.ts"
import { IMMUTABLE } from "./metadata.ts"
import { keyProblems } from "./names.ts"
import { invalidValue, required, type Problem } from "./status.ts"

export const event = (object: Obj): readonly Problem[] => always(object, "reportingComponent")

/** `reporter`: what the request calls the field of who reports. */
const always = (object: Obj, reporter: string): readonly Problem[] => {
  const [own, involved] = [text(object, "metadata", "namespace"), text(object, "involvedObject", "namespace")]
  const elsewhere = [invalidValue("involvedObject.namespace", involved, "does not match event.namespace")]
  if (!get(object, "eventTime")) {
    const allowed = involved === own || (involved === "" && own === "default")
    return allowed ? [] : elsewhere
  }
  const name = text(object, "reportingComponent")
  return [
    ...(involved === "" && own !== "default" && own !== "kube-system" ? elsewhere : []),
    ...(name === "" ? [required(reporter, "")] : []),
    ...keyProblems(name).map((each) => invalidValue(reporter, name, each)),
    ...told(object, "reportingInstance", 128),
    ...told(object, "action", 128),
    ...told(object, "reason", 128),
    ...limited(object, "message", 1024)
  ]
}

const told = (object: Obj, field: string, limit: number): readonly Problem[] =>
  text(object, field) === "" ? [required(field, "")] : limited(object, field, limit)

const limited = (object: Obj, field: string, limit: number): readonly Problem[] =>
  Buffer.byteLength(text(object, field)) > limit
    ? [invalidValue(field, "", `can have at most ${limit} characters`)]
    : []

/** What is written through the newer group. */
export const strictEvent = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const legacy = always(object, "reportingController")
  if (before) {
    const series = same(object["series"], before["series"]) ? [] : seriesProblems(object)
    const fixed = FIXED.filter((field) => !same(object[field] ?? null, before[field] ?? null))
    return [
      ...legacy,
      ...series,
      ...fixed.map((field) =>
        invalidValue(field === "reportingComponent" ? "reportingController" : field, object[field], IMMUTABLE)
      )
    ]
  }
  const type = text(object, "type")
  const unset = ["firstTimestamp", "lastTimestamp", "count"].filter((field) => Boolean(object[field]))
  const sourced = text(object, "source", "component") !== "" || text(object, "source", "host") !== ""
  return [
    ...legacy,
    ...seriesProblems(object),
    ...(object["eventTime"] ? [] : [required("eventTime", "")]),
    ...(type === "Normal" || type === "Warning"
      ? []
      : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...[...unset, ...(sourced ? ["source"] : [])].map((field) => invalidValue(field, "", "needs to be unset"))
  ]
}

const seriesProblems = (object: Obj): readonly Problem[] => {
  const series = object["series"]
  if (series === undefined || series === null) return []
  const count = Number(get(series, "count") ?? 0)
  return [
    ...(count < 2 ? [invalidValue("series.count", "", "should be at least 2")] : []),
    ...(get(series, "lastObservedTime") ? [] : [required("series.lastObservedTime", "")])
  ]
}

/** In the order in which the server tells of them. */
const FIXED = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance"
]
