/**
 * The rules of kinds that only hold data: ConfigMaps, Secrets, Leases, EndpointSlices and Scales.
 */
import { get, listAt, objAt, same, semantic, text, type Obj } from "./json.ts"
import { IMMUTABLE } from "./metadata.ts"
import { forbiddenField, invalidValue, required, unsupported, type Problem } from "./status.ts"

export const nonNegative = (field: string, value: unknown): readonly Problem[] =>
  typeof value === "number" && value < 0
    ? [invalidValue(field, value, "must be greater than or equal to 0")]
    : []

export const endpointSlice = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  const type = text(object, "addressType")
  const types = ["FQDN", "IPv4", "IPv6"]
  const changed =
    before && before["addressType"] !== type ? [invalidValue("addressType", null, IMMUTABLE)] : []
  if (!types.includes(type)) {
    return [...changed, type === "" ? required("addressType", "") : unsupported("addressType", type, types)]
  }
  const fits = (address: string): boolean =>
    type === "IPv4" ? /^(\d{1,3}\.){3}\d{1,3}$/.test(address) : type === "IPv6" ? address.includes(":") : true
  // what was there before isn't judged again
  if (before && same(object["endpoints"], before["endpoints"])) return changed
  return [
    ...changed,
    ...listAt(object, "endpoints").flatMap((endpoint, index) => {
      const addresses = listAt(endpoint, "addresses").map(String)
      if (addresses.length === 0)
        return [required(`endpoints[${index}].addresses`, "must contain at least 1 address")]
      return addresses
        .filter((each) => !fits(each))
        .map((each) => invalidValue(`endpoints[${index}].addresses`, each, `must be an ${type} address`))
    })
  ]
}

export const lease = (object: Obj): readonly Problem[] => {
  const spec = objAt(object, "spec")
  const positive = (field: string): readonly Problem[] => {
    const value = spec[field]
    return typeof value === "number" && value <= 0
      ? [invalidValue(`spec.${field}`, value, "must be greater than 0")]
      : []
  }
  return [
    ...positive("leaseDurationSeconds"),
    ...nonNegative("spec.leaseTransitions", spec["leaseTransitions"])
  ]
}

export const scale = (object: Obj): readonly Problem[] =>
  nonNegative("spec.replicas", get(object, "spec", "replicas"))

/** What may not change any more once a ConfigMap or Secret says so. */
export const sealed = (object: Obj, before: Obj | undefined): readonly Problem[] => {
  if (!before || before["immutable"] !== true) return []
  const fixed = ["data", "binaryData"].filter((field) => !semantic(object[field], before[field]))
  if (object["immutable"] !== true) fixed.push("immutable")
  return fixed.map((field) => forbiddenField(field, "field is immutable when `immutable` is set"))
}

export const secret = (object: Obj, before: Obj | undefined): readonly Problem[] => [
  ...(before && !same(object["type"], before["type"])
    ? [invalidValue("type", object["type"], IMMUTABLE)]
    : []),
  ...sealed(object, before)
]
