/**
 * The rules of `metadata` that hold for objects of every kind, on creation and on change.
 */
import { byCode, get, isObj, listAt, objAt, same, text, type Obj } from "./json.ts"
import { keyProblems, labelProblems, valueProblems } from "./names.ts"
import { forbiddenField, invalidValue, required, tooLong, type Problem } from "./status.ts"

export const IMMUTABLE = "field is immutable"
const ANNOTATIONS_LIMIT = 262144

type NameRule = (name: string) => readonly string[]

/** What is wrong with the metadata of an object that is created. */
export const creationProblems = (object: Obj, namespaced: boolean, rule: NameRule): readonly Problem[] => {
  const meta = objAt(object, "metadata")
  const problems: Problem[] = []
  const generated = text(meta, "generateName")
  if (generated !== "") {
    const probe = `${generated.replace(/-+$/, "")}${generated.endsWith("-") ? "a" : ""}`
    for (const each of rule(probe)) problems.push(invalidValue("metadata.generateName", generated, each))
  }
  const name = text(meta, "name")
  if (name === "") problems.push(required("metadata.name", "name or generateName is required"))
  else for (const each of rule(name)) problems.push(invalidValue("metadata.name", name, each))
  return [
    ...problems,
    ...namespaceProblems(meta, namespaced),
    ...commonProblems(meta),
    ...finalizerProblems(meta)
  ]
}

/** What is wrong with a change of metadata. */
export const changeProblems = (object: Obj, before: Obj): readonly Problem[] => {
  const [meta, old] = [objAt(object, "metadata"), objAt(before, "metadata")]
  const problems: Problem[] = []
  if (get(old, "deletionTimestamp") !== undefined) {
    const added = listAt(meta, "finalizers").filter((each) => !listAt(old, "finalizers").includes(each))
    if (added.length > 0) {
      const names = added.map((each) => JSON.stringify(each)).sort()
      const why = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${names.join(", ")}}`
      problems.push(forbiddenField("metadata.finalizers", why))
    }
  }
  for (const field of ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"]) {
    if (!same(meta[field], old[field]))
      problems.push(invalidValue(`metadata.${field}`, meta[field], IMMUTABLE))
  }
  if (!same(meta["deletionGracePeriodSeconds"], old["deletionGracePeriodSeconds"])) {
    problems.push(
      invalidValue("metadata.deletionGracePeriodSeconds", meta["deletionGracePeriodSeconds"], IMMUTABLE)
    )
  }
  return [...problems, ...commonProblems(meta)]
}

const namespaceProblems = (meta: Obj, namespaced: boolean): readonly Problem[] => {
  const namespace = text(meta, "namespace")
  if (!namespaced)
    return namespace === "" ? [] : [forbiddenField("metadata.namespace", "not allowed on this type")]
  if (namespace === "") return [required("metadata.namespace", "")]
  return labelProblems(namespace).map((each) => invalidValue("metadata.namespace", namespace, each))
}

const commonProblems = (meta: Obj): readonly Problem[] => [
  ...labelsProblems(objAt(meta, "labels"), "metadata.labels"),
  ...annotationsProblems(objAt(meta, "annotations"), "metadata.annotations"),
  ...ownerProblems(listAt(meta, "ownerReferences"))
]

export const labelsProblems = (labels: Obj, field: string): readonly Problem[] =>
  Object.entries(labels)
    .sort(([a], [b]) => byCode(a, b))
    .flatMap(([key, value]) => [
      ...keyProblems(key).map((each) => invalidValue(field, key, each)),
      ...valueProblems(String(value)).map((each) => invalidValue(field, value, each))
    ])

const annotationsProblems = (annotations: Obj, field: string): readonly Problem[] => {
  const problems: Problem[] = []
  let size = 0
  for (const [key, value] of Object.entries(annotations).sort(([a], [b]) => byCode(a, b))) {
    for (const each of keyProblems(key.toLowerCase())) problems.push(invalidValue(field, key, each))
    size += key.length + String(value).length
  }
  if (size > ANNOTATIONS_LIMIT) problems.push(tooLong(field, ANNOTATIONS_LIMIT))
  return problems
}

const ownerProblems = (owners: readonly unknown[]): readonly Problem[] => {
  const problems: Problem[] = []
  let controller = ""
  for (const [index, owner] of owners.entries()) {
    const at = `metadata.ownerReferences[${index}]`
    if (text(owner, "apiVersion") === "") {
      problems.push(invalidValue(`${at}.apiVersion`, text(owner, "apiVersion"), "version must not be empty"))
    }
    for (const field of ["kind", "name", "uid"]) {
      if (text(owner, field) === "") problems.push(required(`${at}.${field}`, "must not be empty"))
    }
    if (!isObj(owner) || owner["controller"] !== true) continue
    const name = `${text(owner, "kind")}/${text(owner, "name")}`
    if (controller === "") controller = name
    else {
      const why = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${name}`
      problems.push(invalidValue("metadata.ownerReferences", owners, why))
    }
  }
  return problems
}

export const finalizerProblems = (meta: Obj): readonly Problem[] => {
  const finalizers = listAt(meta, "finalizers").map(String)
  const problems = finalizers.flatMap((each) =>
    keyProblems(each).map((problem) => invalidValue("metadata.finalizers", each, problem))
  )
  if (finalizers.includes("orphan") && finalizers.includes("foregroundDeletion")) {
    const why = "finalizer orphan and foregroundDeletion cannot be both set"
    problems.push(invalidValue("metadata.finalizers", finalizers, why))
  }
  return problems
}

/** Finalizers of built-in kinds have a domain, but for Kubernetes' own. */
export const plainFinalizerProblems = (meta: Obj): readonly Problem[] =>
  listAt(meta, "finalizers").flatMap((each, index) =>
    String(each).includes("/") || OWN_FINALIZERS.includes(String(each))
      ? []
      : [invalidValue(`metadata.finalizers[${index}]`, each, UNQUALIFIED)]
  )

const OWN_FINALIZERS = ["kubernetes", "orphan", "foregroundDeletion"]
const UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"
